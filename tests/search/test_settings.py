import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thiessen.search import STRATEGIES, BiasedRandom, Grid, Random, Winsor
from thiessen.search.settings import in_words, strategy_from_json, strategy_to_json
from thiessen.search.strategy import Strategy, StrategyError


@dataclass(frozen=True)
class Plain:
    name: ClassVar[str] = "plain"


@dataclass(frozen=True)
class Steep:
    slope: float
    base: int = 2
    name: ClassVar[str] = "steep"

    def __post_init__(self):
        if self.slope == 0:
            raise ValueError("a slope of 0 is flat; use another.")


@dataclass(frozen=True)
class Every(Strategy):
    """Has a setting of each type."""

    whole: int = 1
    real: float = 0.5
    flag: bool = False
    text: str = "a"
    word: Literal["left", "right"] = "left"
    table: Mapping[str, float] | None = None
    shape: Annotated[Plain | Steep, {"plain": Plain, "steep": Steep}] = Plain()
    name: ClassVar[str] = "every"
    version: ClassVar[int] = 3

    def propose(self, space, landscape, turn, rng):
        raise NotImplementedError


Every.presets = {"usual": Every(), "bold": Every(whole=9, word="right")}
KNOWN = STRATEGIES | {"every": Every()}


def values(kind):
    """Draw values of a type, as the code has them."""
    if get_origin(kind) in {Union, UnionType}:
        return st.one_of(*map(values, get_args(kind)))
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is Annotated:
        return st.one_of(*map(built, kind.__metadata__[0].values()))
    if get_origin(kind) is Mapping:
        return st.dictionaries(st.text(max_size=5), values(get_args(kind)[1]), max_size=3)
    return {
        int: st.integers(1, 2**53),
        # Mostly shares: with two of them in one strategy, other numbers are hardly ever settings together.
        float: st.one_of(*3 * [st.floats(0, 1)], st.floats(allow_nan=False, allow_infinity=False)),
        bool: st.booleans(),
        str: st.text(max_size=5),
        NoneType: st.none(),
    }[kind]


@st.composite
def built(draw, kind):
    types = get_type_hints(kind, include_extras=True)
    settings = {field.name: draw(values(types[field.name])) for field in fields(kind)}
    try:
        return kind(**settings)
    except ValueError:
        return assume(False)


@pytest.mark.parametrize("name", KNOWN)
@given(data=st.data())
def test_a_strategy_is_read_back_as_it_was_written(name, data):
    strategy = data.draw(built(type(KNOWN[name])))
    document = strategy_to_json(strategy)

    again = strategy_from_json(json.loads(json.dumps(document, allow_nan=False)), KNOWN)

    assert again == strategy
    assert strategy_to_json(again) == document


@pytest.mark.parametrize("name", KNOWN)
def test_every_setting_is_written_even_the_usual_ones(name):
    document = strategy_to_json(KNOWN[name])
    assert set(document) == {"name", "version"} | {field.name for field in fields(KNOWN[name])}


@pytest.mark.parametrize("name", KNOWN)
def test_a_name_alone_is_the_strategy_with_its_usual_settings(name):
    assert strategy_from_json(name, KNOWN) == strategy_from_json({"name": name}, KNOWN) == KNOWN[name]


@pytest.mark.parametrize("name", KNOWN)
def test_every_preset_goes_by_its_name_and_has_every_setting_explicit(name):
    for preset, strategy in KNOWN[name].presets.items():
        assert strategy_from_json({"name": name, "preset": preset}, KNOWN) == strategy
        assert strategy_from_json(strategy_to_json(strategy), KNOWN) == strategy


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"preset": "bold", "flag": True}, Every(whole=9, word="right", flag=True)),
        ({"version": 3, "real": 2}, Every(real=2.0)),
        ({"table": {"a": 1, "b": 0.5}}, Every(table={"a": 1.0, "b": 0.5})),
        ({"shape": "plain"}, Every()),
        ({"shape": {"name": "steep", "slope": -1}}, Every(shape=Steep(-1.0))),
        ({"shape": {"name": "steep", "slope": 0.5, "base": 3}}, Every(shape=Steep(0.5, 3))),
    ],
)
def test_what_is_given_replaces_what_the_preset_or_the_default_says(settings, expected):
    assert strategy_from_json({"name": "every", **settings}, KNOWN) == expected


@pytest.mark.parametrize(
    ("sent", "acceptance"),
    [("winsor", Winsor()), ({"name": "winsor", "quantile": 0.25}, Winsor(0.25))],
)
def test_an_acceptance_is_written_as_a_name_or_with_its_settings(sent, acceptance):
    strategy = strategy_from_json({"name": "biased_random", "acceptance": sent})
    assert strategy == BiasedRandom(acceptance)


def test_a_number_is_written_the_same_however_it_was_sent():
    written = [
        repr(strategy_to_json(strategy_from_json({"name": "every", "real": n}, KNOWN))) for n in (2, 2.0)
    ]
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("evry", r"its name is 'biased_random', .* or 'every'; got 'evry' \(did you mean 'every'\?\)"),
        ({}, "its name is 'biased_random'"),
        ({"name": ["every"]}, "its name is"),
        ({"name": "every", "flags": 1}, r"every has no setting 'flags' \(did you mean 'flag'\?\); it has 'w"),
        ({"name": "random", "seed": 1}, "random has no setting 'seed'; it has none"),
        ({"name": "every", "version": 2}, "every.version is 3 here; got 2. Leave it out"),
        ({"name": "random", "version": True}, "random.version is 1 here; got True"),
        ({"name": "every", "preset": "bolt"}, r"preset is 'usual' or 'bold'; got 'bolt' \(did you mean"),
        ({"name": "random", "preset": "bold"}, "random.preset is not to be given, as there are none"),
        ({"name": "every", "whole": True}, "every.whole is a whole number; got True"),
        ({"name": "every", "whole": 1.0}, "every.whole is a whole number; got 1.0"),
        ({"name": "every", "whole": 2**60}, "every.whole is a whole number"),
        ({"name": "every", "real": math.nan}, "every.real is a finite number; got nan"),
        ({"name": "every", "real": -math.inf}, "every.real is a finite number; got -inf"),
        ({"name": "every", "real": 10**400}, "every.real is a finite number"),
        ({"name": "every", "real": False}, "every.real is a finite number; got False"),
        ({"name": "every", "real": "0.5"}, "every.real is a finite number; got '0.5'"),
        ({"name": "every", "flag": 1}, "every.flag is true or false; got 1"),
        ({"name": "every", "text": None}, "every.text is a string; got None"),
        ({"name": "every", "word": "rigth"}, r"'left' or 'right'; got 'rigth' \(did you mean 'right'"),
        ({"name": "every", "table": 1}, "is an object with a finite number by name or null; got 1"),
        ({"name": "every", "table": {"a": "b"}}, "every.table.a is a finite number; got 'b'"),
        ({"name": "every", "shape": 1}, "every.shape is 'plain' or 'steep'; got 1"),
        ({"name": "every", "shape": "step"}, r"'plain' or 'steep'; got 'step' \(did you mean 'steep'"),
        ({"name": "every", "shape": "steep"}, "every.shape.slope is missing: a finite number"),
        ({"name": "every", "shape": {"name": "steep", "slop": 1}}, "every.shape has no setting 'slop'"),
        ({"name": "every", "shape": {"name": "steep", "slope": 0}}, "every.shape: a slope of 0 is flat"),
        ({"name": "grid", "levels": 0}, "grid: a dimension of a grid has 1 level or more"),
        ({"name": "every", "text": ["a" * 10_000] * 99}, "every.text is a string"),
    ],
)  # fmt: skip
def test_a_wrong_strategy_is_refused_by_setting_with_what_it_may_be(document, sentence):
    with pytest.raises(StrategyError, match=sentence) as refused:
        strategy_from_json(document, KNOWN)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (Random(), "random"),
        (Grid(), "grid"),
        (Grid(5, "shuffled"), "grid (levels 5, order shuffled)"),
        (Grid({"x": 3, "y": 2}), "grid (levels x 3, y 2)"),
        (Every(shape=Steep(0.5), flag=True), "every (flag True, shape steep (slope 0.5, base 2))"),
    ],
)
def test_in_words_a_strategy_is_its_name_and_its_unusual_settings(strategy, words):
    assert in_words(strategy_to_json(strategy), KNOWN) == words


def test_a_strategy_of_another_server_can_be_put_in_words_too():
    document = {"name": "later", "version": 2, "shape": {"name": "round"}, "limit": None}
    assert in_words(document) == "later (version 2, shape round, limit none)"
