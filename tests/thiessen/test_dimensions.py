"""Dimensions as they are written on a command line."""

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thiessen.cli.command_line import CommandLine
from thiessen.cli.dimensions import KINDS, is_meant, read, spelled, value, written
from thiessen.cli.failure import CommandFailed
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

PLAIN = st.from_regex(r"[A-Za-z_./-][A-Za-z0-9_./+-]*", fullmatch=True)
SCALARS = st.one_of(
    st.text(),
    PLAIN,
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
GAPS = st.sampled_from(["", " ", "  "])


@st.composite
def scalars_as_text(draw):
    """A value, as people may write it."""
    found = draw(SCALARS)
    is_plain = isinstance(found, str) and re.fullmatch(r"[A-Za-z_./-][A-Za-z0-9_./+-]*", found)
    is_word = is_plain and found not in {"true", "false", "null"} and draw(st.booleans())
    return found, found if is_word else json.dumps(found)


@st.composite
def dimensions_as_text(draw):
    """A dimension, as people may write it."""
    gap = draw(GAPS)
    kind = draw(st.sampled_from(list(KINDS)))
    is_log = draw(st.booleans())
    log = [f"{gap}log"] if is_log else []
    if kind == "float":
        bounds = [draw(NUMBERS), draw(NUMBERS)]
        dimension, items = Float(*bounds, log=is_log), [f"{gap}{bound!r}{gap}" for bound in bounds] + log
    elif kind == "int":
        numbers = draw(st.lists(st.integers(), min_size=2, max_size=3))
        dimension, items = Int(*numbers, log=is_log), [f"{gap}{number}{gap}" for number in numbers] + log
    elif kind in {"choice", "ordinal"}:
        values = draw(st.lists(scalars_as_text(), min_size=1, max_size=4))
        made = Categorical if kind == "choice" else Ordinal
        dimension, items = made([each for each, _ in values]), [f"{gap}{text}{gap}" for _, text in values]
    else:
        dimension, items = Boolean(), []
    return dimension, f"{gap}{kind}{gap}({','.join(items)}){gap}"


def same(one, other):
    """Also tells 1 from 1.0 and from true."""
    return repr(one) == repr(other)


@given(dimensions_as_text())
def test_what_is_written_is_what_is_read(pair):
    dimension, text = pair
    assert is_meant(text)
    assert same(read("--x", text), dimension)


@given(dimensions_as_text(), st.dictionaries(PLAIN, st.lists(scalars_as_text(), min_size=1), min_size=1))
def test_so_are_its_conditions(pair, when):
    dimension, text = pair
    assume(not {"and", "when"} & when.keys())
    pairs = [each for values in when.values() for each in values]
    assume(not any(re.search(r"\s+and\s+", written) for _, written in pairs))
    told = " and ".join(f"{name}={'|'.join(text for _, text in values)}" for name, values in when.items())
    found = read("--x", f"{text} when {told}")
    assert same(found.when, {name: [each for each, _ in values] for name, values in when.items()})
    assert type(found) is type(dimension)


def refusal(text):
    try:
        read("--x", text)
    except CommandFailed as refused:
        return str(refused)
    return None


@given(st.text() | st.text('float(int)choice," when=|1.0-log', max_size=30))
def test_any_text_is_a_dimension_or_an_error_with_a_cure(text):
    said = refusal(text)
    assert said is None or re.match(r"(?s)--x: .*Write it as in --x '", said)


@given(st.lists(st.text(), min_size=1))
def test_any_arguments_are_taken_or_refused_in_a_sentence(arguments):
    try:
        line = CommandLine.of(arguments, ["free=int(1,8)"])
    except CommandFailed:
        return
    assert line.arguments({"free": 1}, 0, 0)[0] == arguments[0] or "{" in arguments[0]


@given(SCALARS)
def test_a_value_comes_back_from_what_a_program_is_given(found):
    told = written(found)
    assert same(value(told if not isinstance(found, str) else json.dumps(found)), found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("flaot(0,1)", "'flaot(0,1)' has no known kind: there are float, int"),
        ("Float(0,1)", "Write it as in --lr 'float(1e-5,1,log)'"),
        ("float(0)", "has no two bounds"),
        ("float(0,1,2)", "has no two bounds"),
        ("float(0,one)", "has 'one' where a number is wanted"),
        ("int(0,1.5)", "has '1.5' where an integer is wanted"),
        ("float(0,1", "is not closed by a parenthesis"),
        ("float(0,1)!", "goes on after its parenthesis"),
        ("boolean(1)", "takes nothing in its parentheses"),
        ("choice()", "lacks a value"),
        ("choice(a,,b)", "lacks a value"),
        ("int(1,8) when opt", "has the condition 'opt', without name=value"),
        ("0.1", "is no dimension"),
    ],
)
def test_what_is_wrong_is_said_with_the_argument_and_the_cure(text, said):
    with pytest.raises(CommandFailed, match=re.escape(said)) as refused:
        read("--lr", text)
    assert str(refused.value).startswith("--lr: ")


@pytest.mark.parametrize("text", ["0.1", "float", "print(1)", "adam(0.9)", "f(x)", "a=float(0,1)", "(0,1)"])
def test_other_arguments_are_left_to_the_program(text):
    assert not is_meant(text)


def test_a_quoted_text_may_hold_anything():
    assert read("x", 'choice("float(0,1)", "a,b", (c,d))').choices == ["float(0,1)", "a,b", "(c,d)"]


def line(*arguments, declared=()):
    return CommandLine.of(["./train", *arguments], declared)


def test_dimensions_stand_after_an_option_or_behind_a_name():
    found = line("--lr", "float(0.1,1,log)", "--layers=int(1,8)", "model.width=int(1,9)", "--epochs", "3")
    assert found.space == Space(
        **{"lr": Float(0.1, 1.0, log=True), "layers": Int(1, 8), "model.width": Int(1, 9)}
    )
    config = {"lr": 0.5, "layers": 2, "model.width": 4}
    told = found.arguments(config, 7, 8)
    assert told == ["./train", "--lr", "0.5", "--layers=2", "model.width=4", "--epochs", "3"]


def test_places_in_braces_are_filled_in_and_other_braces_left():
    found = line("{lr}", "--out=runs/{trial}-{seed}", '{"lr": 1}', "{other}", declared=["lr=float(0,1)"])
    told = found.arguments({"lr": 0.5}, 7, 8)
    assert told == ["./train", "0.5", "--out=runs/7-8", '{"lr": 1}', "{other}"]


def test_what_is_not_active_is_left_out_with_its_option():
    found = line(
        "--opt",
        "choice(sgd,adam)",
        "--momentum",
        "float(0,1) when opt=sgd",
        "--beta=float(0,1) when opt=adam",
    )
    assert found.arguments({"opt": "sgd", "momentum": 0.5}, 0, 0) == [
        "./train", "--opt", "sgd", "--momentum", "0.5",
    ]  # fmt: skip
    assert found.arguments({"opt": "adam", "beta": 0.5}, 0, 0) == ["./train", "--opt", "adam", "--beta=0.5"]


def test_a_flag_is_there_or_not_and_a_boolean_says_which():
    found = line("--nesterov", "flag()", "--bias", "boolean()", "last")
    assert found.arguments({"nesterov": True, "bias": True}, 0, 0) == [
        "./train", "--nesterov", "--bias", "true", "last",
    ]  # fmt: skip
    assert found.arguments({"nesterov": False, "bias": False}, 0, 0) == ["./train", "--bias", "false", "last"]


@pytest.mark.parametrize(
    ("arguments", "declared", "said"),
    [
        (["float(0,1)"], [], "follows no option of the program"),
        (["--lr", "float(0,1)", "int(1,8)"], [], "'int(1,8)' follows no option"),
        (["epochs", "int(1,8)"], [], "or 'lr=int(1,8)'"),
        (["--=int(1,8)"], [], "is no name"),
        (["--nesterov=flag()"], [], "Write it as in --nesterov 'flag()'"),
        (["--seed", "int(1,8)"], [], "--dimension 'my_seed=int(1,8)'"),
        (["--lr", "float(0,1)", "--lr", "float(0,1)"], [], "'lr' is a dimension already"),
        (["--a-b", "int(1,8)", "--a_b", "int(1,8)"], [], "'a-b' is a dimension already"),
        (["{m}"], ["opt=choice(a,b)", "m=int(1,8) when opt=a"], "m is not always there"),
        (["--m", "int(1,8) when opt=a"], [], "'opt'"),
        (["--lr", "float(2,1)"], [], "dimension 'lr': low 2.0 is above high 1.0; swap them."),
        (["--lr", "0.1"], [], "there is nothing to search"),
        ([], ["float(0,1)"], "is not NAME=DIMENSION"),
        ([], ["fast=flag()"], "a flag() stands among the arguments"),
    ],
)
def test_what_has_no_clear_meaning_is_refused_with_a_cure(arguments, declared, said):
    with pytest.raises(CommandFailed, match=re.escape(said)):
        line(*arguments, declared=declared)


@given(
    st.one_of(
        st.builds(Float, NUMBERS, NUMBERS, log=st.booleans()),
        st.builds(Int, st.integers(), st.integers(), st.integers(1), log=st.booleans()),
        st.builds(Categorical, st.lists(SCALARS, min_size=1)),
        st.builds(Ordinal, st.lists(SCALARS, min_size=1)),
        st.just(Boolean()),
    )
)
def test_what_is_spelled_is_read_as_what_it_was(dimension):
    assert read("x", spelled(dimension)) == dimension
