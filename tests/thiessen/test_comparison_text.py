import json

import pytest
import yaml

from thiessen.comparison.text import read
from thiessen.contract import ComparisonSpec
from thiessen.contract.comparisons import EXAMPLE
from thiessen.study_text import WrongText

TOML = """name = "two"
task = "t"
budget = {trials = 5}

[space.batch]
type = "categorical"
choices = [32, 128]

[[arms]]
label = "sgd"
[arms.space.lr]
type = "float"
low = 0.1
high = 1.0

[[arms]]
label = "kfac"
[arms.settings]
optimizer = "kfac"
[arms.space.damping]
type = "float"
low = 0.1
high = 1.0
"""
YAML = yaml.safe_dump(EXAMPLE, sort_keys=False)
LINES = ["", *YAML.splitlines()]


def faults(text, kind):
    with pytest.raises(WrongText) as caught:
        read(text, kind)
    return [(fault.line, ".".join(map(str, fault.place))) for fault in caught.value.faults]


@pytest.mark.parametrize(("kind", "text"), [("yaml", YAML), ("json", json.dumps(EXAMPLE)), ("toml", TOML)])
def test_a_comparison_is_read_from_every_form(kind, text):
    spec = read(text, kind)

    assert isinstance(spec, ComparisonSpec)
    assert [arm.label for arm in spec.arms] == ["sgd", "kfac"]


def test_a_comparison_without_a_name_has_the_one_that_is_given():
    assert read("\n".join(TOML.splitlines()[1:]), "toml", "of-the-file").name == "of-the-file"
    assert read(TOML, "toml", "of-the-file").name == "two"


@pytest.mark.parametrize(
    ("kind", "text", "old", "new", "line", "place"),
    [
        ("toml", TOML, "low = 0.1\nhigh = 1.0\n\n", "low = 'x'\n\n", 13, "arms.0.space.lr.low"),
        ("toml", TOML, 'label = "kfac"', 'label = "k f"', 17, "arms.1.label"),
        ("toml", TOML, 'optimizer = "kfac"', "optimizer = [1]", 19, "arms.1.settings.optimizer"),
        ("toml", TOML, "{trials = 5}", "{trials = 0}", 3, "budget.trials"),
        ("yaml", YAML, "label: kfac", "label: k f", LINES.index("- label: kfac"), "arms.1.label"),
        ("yaml", YAML, "replicates: 10", "replicates: 0", LINES.index("replicates: 10"), "replicates"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_the_line_that_it_is_in(kind, text, old, new, line, place):
    assert old in text

    assert (line, place) in faults(text.replace(old, new), kind)


def test_two_arms_of_one_label_are_refused():
    with pytest.raises(WrongText, match="two arms are called 'sgd'"):
        read(YAML.replace("label: kfac", "label: sgd"), "yaml")


def test_a_text_that_no_parser_takes_is_told_with_its_line():
    with pytest.raises(WrongText, match=r"cannot be parsed: .*line 2"):
        read("name = 'a'\ntask = ?\n", "toml")


def test_aliases_of_strangers_are_not_read():
    with pytest.raises(WrongText, match=r"\*a stands for what is written elsewhere"):
        read("name: &a x\ntask: *a\n", "yaml", has_aliases=False)
