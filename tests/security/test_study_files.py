"""Study files that were made to harm who reads them."""

import json

import pytest

from thiessen.comparison.text import read as read_comparison
from thiessen.study_text import MOST_VALUES, WrongText, read

STUDY = "name: s\ntask: t\nspace: {x: {type: float, low: 0, high: 1}}\n"
LAUGHS = "attributes:\n  a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"  {name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghij", "bcdefghijk", strict=True)
)
MERGES = "attributes:\n  a: &a {k: 1}\n" + "".join(
    f"  {name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n"
    for before, name in zip("abcdefghij", "bcdefghijk", strict=True)
)
CALLS = (
    "!!python/object/apply:os.system [touch {file}]",
    "!!python/object/new:os.system [touch {file}]",
    "!!python/name:os.system",
    "!!python/module:os",
    "!!python/object:thiessen.space.Space {{}}",
    "!<tag:yaml.org,2002:python/object/apply:subprocess.call> [[touch, {file}]]",
)


@pytest.mark.parametrize("read_it", [read, read_comparison])
@pytest.mark.parametrize("bomb", [LAUGHS, MERGES], ids=["laughs", "merges"])
def test_aliases_that_stand_for_very_much_are_refused_at_their_line(read_it, bomb):
    with pytest.raises(WrongText, match=f"more than {MOST_VALUES:,} values") as refused:
        read_it(STUDY + bomb, "yaml", "s")

    assert refused.value.faults[0].line > 5


@pytest.mark.parametrize("text", ["attributes: &a {b: *a}\n", "attributes: {a: *nobody}\n"])
def test_an_alias_that_stands_for_itself_or_nothing_is_refused(text):
    with pytest.raises(WrongText, match="stands for nothing that is written before it"):
        read(STUDY + text, "yaml", "s")


def test_aliases_that_save_typing_are_read():
    text = "name: s\ntask: t\nspace: {x: &x {type: float, low: 0, high: 1}, y: *x, z: {<<: *x, high: 2}}\n"

    assert set(read(text, "yaml", "s").space) == {"x", "y", "z"}


@pytest.mark.parametrize("call", CALLS)
def test_a_tag_makes_nothing_and_calls_nothing(call, tmp_path):
    with pytest.raises(WrongText, match="could not determine a constructor"):
        read(f"{STUDY}notes: {call.format(file=tmp_path / 'done')}\n", "yaml", "s")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["yaml", "toml", "json"])
@pytest.mark.parametrize(
    "value",
    ["[" * 1000, "[" * 1000 + "]" * 1000, '{"a":' * 1000, "9" * 5000, "1e" + "9" * 400, "-1e999", "NaN"],
    ids=lambda value: value[:8],
)
def test_a_value_that_is_too_much_is_refused_in_words(kind, value):
    begin = {"yaml": "seed: ", "toml": "seed = ", "json": '{"seed": '}[kind]

    with pytest.raises(WrongText):
        read(begin + value + ("}" if kind == "json" else ""), kind, "s")


def test_of_keys_that_are_written_twice_no_program_makes_two_studies():
    sent = '{"name": "a", "name": "b", "task": "t", "space": {"x": {"type": "boolean"}}}'

    assert read(sent, "json", "s").name == json.loads(sent)["name"] == "b"
