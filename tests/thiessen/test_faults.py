"""What is said to a person whose study file is wrong: the place, what belongs there, and what was there."""

# ruff: noqa: E501 - a line is a file and what is said of it

import pytest

from thiessen.study_text import WrongText, read

HEAD = {"name": "name: x", "task": "task: t", "max_trials": "max_trials: 5"}


def written(dimension="{type: float, low: 0, high: 1}", **fields):
    return "\n".join([*(HEAD | fields).values(), "space:", f"  lr: {dimension}"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (written(max_trials="max_trial: 5"), "line 3, max_trial: is no field here; the nearest is 'max_trials'"),
        (written(name="nam: x"), "name: is missing; line 1, nam: is no field here; the nearest is 'name'"),
        (written(max_trials='max_trials: "5"'), 'line 3, max_trials: is an integer; got "5"'),
        (written(max_trials="max_trials: 0"), "line 3, max_trials: is at least 1; got 0"),
        (written("{type: flaot, low: 0, high: 1}"), "space.lr: has no 'type' called 'flaot'; the nearest is 'float'"),
        (written("{low: 0, high: 1}"), "space.lr: has no 'type', which says what else there is"),
        (written("{type: float, low: '0', high: 1}"), 'line 5, space.lr.low: is a number; got "0"'),
        (written("{type: float, low: 0}"), "line 5, space.lr.high: is missing"),
        (written("{type: float, low: 0, high: 1, hihg: 1}"), "space.lr.hihg: is no field here; the nearest is 'high'"),
        (
            written("{type: float, low: 0, high: 1, max: 1}"),
            "space.lr.max: is no field here; there are high, log, low, type, when",
        ),
        (written("[0, 1]"), "line 5, space.lr: is a table of names and values"),
        (written("0.1"), "line 5, space.lr: is a table of names and values; got 0.1"),
        ("name: x\ntask: t\nspace: {}", "line 3, space: has at least 1 item"),
        (written(task="task: t\ndirection: max"), "direction: is 'minimize' or 'maximize'; got \"max\""),
        (written(task="task: t\ndeadline: soon"), "deadline: a time is written out with its offset, as in 2027"),
        (
            written(task="task: t\nstopping: {rule: medain, metric: l}"),
            "line 3, stopping: has no 'rule' called 'medain'; the nearest is 'median'",
        ),
        (
            written(task="task: t\nstopping: {rule: median, metric: l, warmup: 3}"),
            "stopping.warmup: is no field here; the nearest is 'warm_up'",
        ),
        (
            written("{type: categorical, choices: [[1]]}"),
            "line 5, space.lr.choices.0: is true or false or a number or a text",
        ),
        (written(task="task: t\nrequires: {gpu: 1}"), "requires.gpu: is no field here; the nearest is 'gpus'"),
        ("7", "the document: is a table of names and values; got 7"),
    ],
)  # fmt: skip
def test_a_wrong_study_file_is_told_what_belongs_there(text, said):
    with pytest.raises(WrongText) as wrong:
        read(text, "yaml", "x")

    assert said in str(wrong.value)


@pytest.mark.parametrize("written_so", ["1e-3", "1E-3", ".1e-2", "1.e-3", "+1e-3", "1.0e-3"])
def test_a_number_without_a_dot_is_a_number_in_yaml_too(written_so):
    study = read(written(f"{{type: float, low: {written_so}, high: 1}}"), "yaml", "x")

    assert study.space["lr"].low == 0.001


@pytest.mark.parametrize("word", ["1e", "e3", "1e-3x", "0x1e3-", "'1e-3'"])
def test_what_only_looks_like_a_number_stays_a_text_in_yaml(word):
    study = read(written(f"{{type: categorical, choices: [{word}]}}"), "yaml", "x")

    assert study.space["lr"].choices == [word.strip("'")]
