import json
import math
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy.stats import chisquare, kstest

from thiessen.search import Stream
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space, SpaceError, config_key

ONE_OF_EACH = Space(
    lr=Float(1e-4, 1.0, log=True),
    momentum=Float(0.0, 0.99),
    batch=Int(16, 128, step=16),
    hidden=Int(1, 512, log=True),
    activation=Categorical(("relu", "tanh", None)),
    depth=Ordinal(("shallow", "deep", "deeper")),
    bias=Boolean(),
)
UNLIKELY = 0.001  # a chi-squared or Kolmogorov test on a fixed stream fails below this


def ordered(low, high, numbers):
    return st.tuples(numbers(low, high), numbers(low, high)).map(sorted)


scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-9, 9), st.text(max_size=3))
choices = st.lists(scalars, min_size=1, max_size=4, unique_by=json.dumps).map(tuple)
continua = st.one_of(
    ordered(-100, 100, st.floats).map(lambda bounds: Float(*bounds)),
    ordered(1e-9, 1e9, st.floats).map(lambda bounds: Float(*bounds, log=True)),
)
wide_continua = st.one_of(
    st.builds(lambda low, width: Float(low, low + width), st.floats(-1, 1), st.floats(0.5, 2)),
    st.builds(lambda low, ratio: Float(low, low * ratio, log=True), st.floats(1e-9, 1e3), st.floats(2, 1e9)),
)
lists = st.one_of(
    st.builds(Categorical, choices),
    st.builds(Ordinal, choices),
    st.just(Boolean()),
    st.builds(lambda low, count, step: Int(low, low + count, step), *[st.integers(1, 4)] * 3),
)
log_ints = ordered(1, 10**9, st.integers).map(lambda bounds: Int(*bounds, log=True))
long_ints = st.one_of(
    st.tuples(ordered(-(2**40), 2**40, st.integers), st.integers(1, 9)).map(
        lambda drawn: Int(*drawn[0], step=drawn[1])
    ),
    log_ints,
)


@st.composite
def spaces(draw, dimensions):
    """Up to four dimensions, some under a condition, children declared before or after their parents."""
    made = {}
    for name in "abcd"[: draw(st.integers(1, 4))]:
        parents = [parent for parent, dimension in made.items() if not isinstance(dimension, Float)]
        made[name] = draw(dimensions)
        if parents and draw(st.booleans()):
            parent = draw(st.sampled_from(parents))
            wanted = draw(st.lists(st.sampled_from(made[parent].values()), min_size=1, max_size=2))
            made[name] = replace(made[name], when={parent: wanted})
    return Space(**{name: made[name] for name in draw(st.permutations(sorted(made)))})


def units(draw, space):
    size = len(space.dimensions)
    return draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=size, max_size=size))


def is_valid(space, config):
    try:
        space.validate(config)
    except SpaceError:
        return False
    return True


def is_active(space, name, values):
    """Return whether a dimension is active, straight from the definition."""
    return all(
        is_active(space, parent, values) and json.dumps(values[parent]) in map(json.dumps, wanted)
        for parent, wanted in (space.dimensions[name].when or {}).items()
    )


any_space = spaces(st.one_of(continua, lists, long_ints))


@pytest.mark.parametrize(
    ("unit", "config"),
    [
        (
            0.0,
            {
                "lr": 1e-4,
                "momentum": 0.0,
                "batch": 16,
                "hidden": 1,
                "activation": "relu",
                "depth": "shallow",
                "bias": False,
            },
        ),
        (
            math.nextafter(1, 0),
            {
                "lr": 1.0,
                "momentum": 0.99,
                "batch": 128,
                "hidden": 512,
                "activation": None,
                "depth": "deeper",
                "bias": True,
            },
        ),
    ],
)
def test_the_ends_of_the_unit_interval_are_the_ends_of_every_kind(unit, config):
    assert ONE_OF_EACH.decode([unit] * 7) == config


@pytest.mark.parametrize(
    ("dimension", "value", "coordinate"),
    [
        (Float(-2.0, 2.0), 1.0, 0.75),
        (Float(1e-4, 1.0, log=True), 1e-2, 0.5),
        (Float(3.0, 3.0), 3.0, 0.0),
        (Int(1, 4), 2, 0.375),
        (Int(0, 9, step=3), 9, 0.875),
        (Int(1, 3, log=True), 1, math.log(3) / 2 / math.log(7)),
        (Categorical(("a", "b", "c")), "c", 2.0),
        (Ordinal((10, 20, 30, 40)), 30, 0.625),
        (Boolean(), True, 1.0),
    ],
)
def test_a_value_has_the_coordinate_of_its_place_on_the_scale(dimension, value, coordinate):
    assert dimension.encode(value) == pytest.approx(coordinate, rel=1e-14)


@pytest.mark.parametrize(
    ("dimension", "cure"),
    [
        (Float(2.0, 1.0), "swap"),
        (Float(0.0, math.inf), "finite"),
        (Float(math.nan, 1.0), "finite"),
        (Float(0, 10**400), "finite"),
        (Float("0", 1.0), "finite"),
        (Float(True, 2.0), "finite"),
        (Float(-1e308, 1e308), "narrow it"),
        (Float(0.0, 1.0, log=True), "Raise low or drop log"),
        (Float(0.1, 1.0, log="no"), "log is true or false; got 'no'"),
        (Int(1, 9, log=1), "log is true or false; got 1"),
        ((0.0, 1.0), "declare it as one of Float, Int, "),
        (Int(2, 1), "swap"),
        (Int(0.0, 1), "use a float"),
        (Int(True, 2), "use a float"),
        (Int(0, 2**53 + 1), "rescale"),
        (Int(0, 10**400), "finite"),
        (Int(0, 5, step=0), "at least 1"),
        (Int(1, 5, step=2, log=True), "exactly 1"),
        (Int(0, 5, log=True), "Raise low or drop log"),
        (Categorical(()), "1 to 10000"),
        (Categorical("abc"), "list"),
        (Categorical({"a", "b"}), "list"),
        (Categorical(5), "list"),
        (Categorical(range(10_001)), "1 to 10000"),
        (Categorical(("a", "b", "a")), "give each once"),
        (Ordinal((1, 2, 1)), "give each once"),
        (Ordinal((0.0, math.nan)), "JSON"),
        (Categorical((1, math.inf)), "JSON"),
        (Categorical((0, 2**53 + 1)), "as a string"),
        (Categorical(((1, 2),)), "string, number, boolean or null"),
    ],
)
def test_a_senseless_dimension_is_refused_by_name_and_with_a_cure(dimension, cure):
    with pytest.raises(SpaceError, match=rf"'width'.*{cure}"):
        Space(width=dimension)


@pytest.mark.parametrize(
    ("when", "cure"),
    [
        ({"colour": ["red"]}, "'colour', which is not a dimension"),
        ({"kind": "adam"}, "non-empty list of values of 'kind'"),
        ({"kind": []}, "non-empty list of values of 'kind'"),
        ({"flag": True}, "non-empty list of values of 'flag'"),
        (["kind"], r"maps names of dimensions to lists of values; got \['kind'\]"),
        ({"kind": [object]}, "'kind' is never <class 'object'>: it must be one of"),
        ({"kind": ["sdg"]}, r"'kind' is never 'sdg': it must be one of \['sgd', 'adam'\]"),
        ({"layers": [9]}, r"'layers' is never 9: it must be an integer in \[1, 3\]"),
        ({"layers": [True]}, "'layers' is never True"),
        ({"flag": [1]}, "'flag' is never 1: it must be true or false"),
        ({"rate": [0.5]}, "'rate', a float.*condition on an int or on choices"),
    ],
)
def test_a_condition_that_cannot_hold_is_refused_by_name_and_with_a_cure(when, cure):
    with pytest.raises(SpaceError, match=rf"'child'.*{cure}"):
        Space(
            child=Boolean(when=when),
            kind=Categorical(("sgd", "adam")),
            layers=Int(1, 3),
            flag=Boolean(),
            rate=Float(0.0, 1.0),
        )


def test_a_condition_on_a_broken_parent_tells_of_the_parent():
    with pytest.raises(SpaceError, match=r"'parent': choices is a list"):
        Space(child=Boolean(when={"parent": [1]}), parent=Categorical(5))


def test_conditions_that_go_round_in_a_circle_are_told_with_their_chain():
    chain = {"a": "b", "b": "c", "c": "a"}
    with pytest.raises(SpaceError, match=r"circle: ([abc]) -> [abc] -> [abc] -> \1; remove one"):
        Space(**{name: Boolean(when={parent: [True]}) for name, parent in chain.items()})


@pytest.mark.parametrize("count", [0, 257])
def test_a_space_has_one_to_256_dimensions(count):
    with pytest.raises(SpaceError, match=f"1 to 256 dimensions; this one has {count}"):
        Space(**{f"x{number}": Boolean() for number in range(count)})


def test_a_chain_of_conditions_switches_off_everything_below_it():
    space = Space(
        c=Boolean(when={"b": [True]}),
        b=Boolean(when={"a": [True]}),
        a=Boolean(),
        d=Boolean(when={"c": [False]}),
    )
    assert space.decode([0.0, 0.9, 0.0, 0.0]) == {"a": False}
    assert space.decode([0.9, 0.0, 0.9, 0.0]) == {"b": False, "a": True}
    assert space.decode([0.9, 0.9, 0.9, 0.0]) == {"c": True, "b": True, "a": True}
    assert list(space.decode([0.0, 0.9, 0.9, 0.0])) == ["c", "b", "a", "d"]


def test_a_dimension_with_two_parents_needs_both():
    space = Space(a=Boolean(), b=Int(0, 1), both=Boolean(when={"a": [True], "b": [1]}))
    active = ["both" in space.decode([a, b, 0.0]) for a in (0.0, 0.9) for b in (0.0, 0.9)]
    assert active == [False, False, False, True]


@given(data=st.data(), space=any_space)
def test_the_active_dimensions_are_those_whose_conditions_hold(data, space):
    drawn = units(data.draw, space)
    values = {
        name: dimension.decode(unit)
        for (name, dimension), unit in zip(space.dimensions.items(), drawn, strict=True)
    }
    active = [name for name in space.dimensions if is_active(space, name, values)]

    config = space.decode(drawn)

    assert list(config) == active
    assert [math.isnan(coordinate) for coordinate in space.encode(config)] == [
        name not in active for name in space.dimensions
    ]


@pytest.mark.row(1)
@given(dimension=st.one_of(lists, long_ints), unit=st.floats(0, 1, exclude_max=True))
def test_discrete_values_round_trip_exactly(dimension, unit):
    value = dimension.decode(unit)
    coordinate = dimension.encode(value)
    if not dimension.ordered:
        coordinate = (coordinate + 0.5) / len(dimension.values())  # a code, not a place in [0, 1)

    assert config_key({"": dimension.decode(coordinate)}) == config_key({"": value})


@pytest.mark.row(1)
@given(dimension=wide_continua, unit=st.floats(0, 1, exclude_max=True))
def test_proposed_floats_round_trip_within_1e_12_of_the_unit_coordinate(dimension, unit):
    value = dimension.decode(unit)
    coordinate = dimension.encode(value)

    assert coordinate == pytest.approx(unit, abs=2e-11)  # twelve digits of up to 3, over a range from 0.5
    assert dimension.encode(dimension.decode(coordinate)) == pytest.approx(coordinate, abs=1e-12)


@given(dimension=continua, unit=st.floats(0, 1, exclude_max=True))
def test_a_proposed_float_lies_within_its_bounds_and_comes_back_unchanged(dimension, unit):
    value = dimension.decode(unit)

    assert type(value) is float
    assert dimension.low <= value <= dimension.high
    assert -1e-15 <= dimension.encode(value) <= 1 + 1e-15
    assert dimension.decode(dimension.encode(value)) == pytest.approx(value, rel=1e-12, abs=1e-14)


@given(dimension=continua, unit=st.floats(0, 1, exclude_max=True))
def test_a_proposed_float_has_twelve_significant_digits_unless_it_is_a_bound(dimension, unit):
    value = dimension.decode(unit)
    assert value in {dimension.low, dimension.high, float(f"{value:.12g}")}


def test_whole_bounds_still_give_floats():
    assert config_key(Space(x=Float(1, 1)).decode([0.5])) == '{"x":1.0}'
    assert config_key(Space(x=Float(10**15 + 1, 10**15 + 3)).decode([0.0])) == '{"x":1000000000000001.0}'


@pytest.mark.parametrize(
    "dimension",
    [Int(3, 9), Int(0, 20, step=4), Categorical(("a", "b", "c")), Ordinal((1, 2, 4, 8, 16)), Boolean()],
)
def test_integers_and_choices_are_equally_likely(dimension):
    stream = Stream(seed=0, trial=0)
    counts = Counter(dimension.decode(stream.uniform()) for _ in range(10_000))

    assert set(counts) == set(dimension.values())
    assert chisquare(list(counts.values())).pvalue > UNLIKELY


def test_integers_on_a_log_scale_are_as_likely_as_their_bins_are_wide_in_the_logarithm():
    stream, dimension = Stream(seed=0, trial=0), Int(2, 12, log=True)
    counts = Counter(dimension.decode(stream.uniform()) for _ in range(10_000))

    widths = [math.log((value + 0.5) / (value - 0.5)) for value in range(2, 13)]
    expected = [10_000 * width / sum(widths) for width in widths]
    assert chisquare([counts[value] for value in range(2, 13)], expected).pvalue > UNLIKELY


@pytest.mark.parametrize(
    ("dimension", "scale"), [(Float(-3.0, 5.0), float), (Float(1e-5, 10.0, log=True), math.log)]
)
def test_floats_are_uniform_on_their_declared_scale(dimension, scale):
    stream = Stream(seed=0, trial=0)
    positions = [scale(dimension.decode(stream.uniform())) for _ in range(5_000)]

    low, high = scale(dimension.low), scale(dimension.high)
    assert kstest(positions, "uniform", args=(low, high - low)).pvalue > UNLIKELY


@given(data=st.data(), space=any_space)
def test_every_decoded_config_is_valid(data, space):
    space.validate(space.decode(units(data.draw, space)))


@given(data=st.data(), space=any_space)
def test_no_neighbour_of_a_decoded_config_is_valid(data, space):
    config = space.decode(units(data.draw, space))
    inactive = [name for name in space.dimensions if name not in config]
    neighbours = (
        [config | {name: space.dimensions[name].decode(0.0)} for name in inactive]
        + [{other: config[other] for other in config if other != name} for name in config]
        + [config | {name: "no value of any dimension"} for name in config]
        + [config | {"unknown": 1}]
    )

    assert not [neighbour for neighbour in neighbours if is_valid(space, neighbour)]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"lr": 1.5}, r"'lr' cannot be 1.5: it must be a number in \[0.0001, 1.0\]"),
        ({"lr": math.nan}, "'lr' cannot be nan: it must be a number"),
        ({"momentum": True}, "'momentum' cannot be True: it must be a number"),
        ({"batch": 20}, "'batch' cannot be 20: it must be 16 plus a multiple of 16"),
        ({"batch": 144}, r"'batch' cannot be 144: it must be an integer in \[16, 128\]"),
        ({"batch": 32.0}, "'batch' cannot be 32.0: it must be an integer"),
        ({"hidden": True}, "'hidden' cannot be True: it must be an integer"),
        (
            {"activation": "ReLU"},
            r"'activation' cannot be 'ReLU': it must be one of \['relu', 'tanh', None\]",
        ),
        ({"depth": 1}, "'depth' cannot be 1: it must be one of"),
        ({"depth": 1j}, "'depth' cannot be 1j: it must be one of"),
        ({"bias": 1}, "'bias' cannot be 1: it must be true or false"),
        ({"widht": 1}, r"'widht' is not a dimension; this space has \['lr', "),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_with_what_it_must_be(change, why):
    with pytest.raises(SpaceError, match=why):
        ONE_OF_EACH.validate(ONE_OF_EACH.decode([0.5] * 7) | change)


def test_of_many_choices_the_first_are_named():
    space = Space(x=Categorical(range(10_000)))
    with pytest.raises(SpaceError, match=r"one of 10000 choices, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 \.\.\.\.$"):
        space.validate({"x": "0"})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"lr": "0.1"}, "'lr' cannot be '0.1': it must be a number"),
        ({"batch": None}, "'batch' cannot be None: it must be an integer"),
        ({"hidden": -1}, "'hidden' cannot be -1: it must be an integer in"),
        ({"activation": "ReLU"}, "'activation' cannot be 'ReLU': it must be one of"),
    ],
)
def test_a_config_without_coordinates_is_refused_by_name_and_with_what_it_must_be(change, why):
    with pytest.raises(SpaceError, match=why):
        ONE_OF_EACH.encode(ONE_OF_EACH.decode([0.5] * 7) | change)


def test_a_missing_and_an_inactive_dimension_are_told_apart():
    space = Space(kind=Categorical(("sgd", "adam")), beta=Float(0.0, 1.0, when={"kind": ["adam"]}))
    with pytest.raises(SpaceError, match="'beta' is missing from the config; add it"):
        space.validate({"kind": "adam"})
    with pytest.raises(SpaceError, match="'beta' is inactive in this config; leave it out"):
        space.validate({"kind": "sgd", "beta": 0.5})


@given(space=any_space)
def test_a_space_survives_json(space):
    again = Space.from_json(json.loads(json.dumps(space.to_json())))

    assert again == space
    assert hash(again) == hash(space)
    assert list(again.dimensions) == list(space.dimensions)
    assert again.decode([0.25] * len(space.dimensions)) == space.decode([0.25] * len(space.dimensions))


@pytest.mark.parametrize("wanted", [[0, 1], (0, 1), range(2)])
def test_a_condition_written_as_any_sequence_survives_json(wanted):
    space = Space(a=Int(0, 3), b=Boolean(when={"a": wanted}))
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space


@pytest.mark.parametrize(
    "other",
    [
        Space(x=Float(0.0, 2.0), c=Categorical((0, 1))),
        Space(x=Float(0.0, 1.0), c=Categorical((False, True))),
        Space(x=Float(0.0, 1.0), c=Categorical((0.0, 1.0))),
        Space(x=Float(0.0, 1.0), c=Ordinal((0, 1))),
        Space(x=Float(0.0, 1.0), c=Categorical((0, 1)), flag=Boolean()),
        Space(x=Float(0.0, 1.0, when={"c": [0, 1]}), c=Categorical((0, 1))),
    ],
)
def test_spaces_with_other_dimensions_choices_or_conditions_differ(other):
    space = Space(x=Float(0.0, 1.0), c=Categorical((0, 1)))
    assert other != space
    assert other.digest != space.digest


def test_the_choices_of_an_ordinal_in_another_order_are_another_space():
    assert Space(x=Ordinal((1, 2, 4))) != Space(x=Ordinal((4, 2, 1)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Space(a=Boolean(), b=Int(0, 1)), Space(b=Int(0, 1), a=Boolean())),
        (Space(x=Float(0, 1)), Space(x=Float(-0.0, 1.0, log=False))),
        (Space(x=Int(0, 9, step=3)), Space(x=Int(0, 11, step=3))),
        (Space(x=Int(4, 4)), Space(x=Int(4, 6, step=3))),
        (Space(x=Categorical(("b", 1, None))), Space(x=Categorical([None, "b", 1]))),
        (Space(x=Boolean(when={})), Space(x=Boolean())),
        (
            Space(a=Int(0, 9), b=Boolean(), x=Boolean(when={"a": [2, 1, 2], "b": [True]})),
            Space(a=Int(0, 9), b=Boolean(), x=Boolean(when={"b": (True,), "a": range(1, 3)})),
        ),
    ],
)
def test_the_same_space_written_differently_is_the_same(one, other):
    assert json.dumps(one.canonical()) == json.dumps(other.canonical())
    assert one == other
    assert hash(one) == hash(other)
    assert one.digest == other.digest


@given(data=st.data(), space=any_space)
def test_the_canonical_form_is_a_space_with_the_same_configs(data, space):
    canonical = Space.from_json(json.loads(json.dumps(space.canonical())))
    config = space.decode(units(data.draw, space))
    changed = config | data.draw(st.dictionaries(st.sampled_from("abcd"), scalars, min_size=1))

    assert canonical == space
    assert canonical.canonical() == space.canonical()
    assert is_valid(canonical, config)
    assert is_valid(canonical, changed) == is_valid(space, changed)


def test_a_digest_is_the_same_in_every_process_and_version():
    assert Space(x=Float(0, 1), k=Categorical(("b", "a"))).digest == "96f34b6fdbdd4dcc"


@pytest.mark.parametrize(
    ("entry", "cure"),
    [
        (
            {"low": 0.0},
            r"its type is one of \['float', 'int', 'categorical', 'ordinal', 'boolean'\]; got None",
        ),
        ({"type": "real"}, "its type is one of .*; got 'real'"),
        ({"type": "boolean", "low": 0}, r"a boolean knows \['when'\]; remove \['low'\]"),
        ({"type": ["float"]}, r"its type is one of .*; got \['float'\]"),
        ({"type": "float", "low": 0.0}, r"a float needs \['low', 'high'\]; add \['high'\]"),
        (["float", 0.0, 1.0], "give a table with its type and settings"),
    ],
)
def test_a_wrong_json_entry_is_refused_by_name_and_with_a_cure(entry, cure):
    with pytest.raises(SpaceError, match=f"'width': .*{cure}"):
        Space.from_json({"width": entry})


@given(space=spaces(lists))
def test_points_enumerates_each_config_once(space):
    absent = object()
    axes = [[absent, *dimension.values()] for dimension in space.dimensions.values()]
    candidates = [
        {name: value for name, value in zip(space.dimensions, values, strict=True) if value is not absent}
        for values in product(*axes)
    ]

    listed = [config_key(point) for point in space.points([0.0] * len(space.dimensions))]

    assert sorted(listed) == sorted(config_key(config) for config in candidates if is_valid(space, config))


def test_points_stays_at_the_given_coordinate_of_a_continuum():
    space = Space(kind=Boolean(), lr=Float(0.0, 1.0, when={"kind": [True]}))
    assert list(space.points([0.0, 0.25])) == [{"kind": False}, {"kind": True, "lr": 0.25}]


def test_points_of_a_huge_space_are_met_one_by_one():
    space = Space(a=Int(0, 2**53), **{f"x{number}": Boolean() for number in range(255)})
    assert next(space.points([0.0] * 256)) == {"a": 0} | {f"x{number}": False for number in range(255)}


@given(config=st.dictionaries(st.text(max_size=3), scalars), data=st.data())
def test_the_key_of_a_config_does_not_depend_on_the_order_of_its_names(config, data):
    shuffled = dict(data.draw(st.permutations(list(config.items()))))
    assert config_key(shuffled) == config_key(config)
    assert json.loads(config_key(config)) == config


def test_the_key_of_a_config_tells_apart_what_json_tells_apart():
    values = [1, 1.0, True, "1", "true", None, "null", 0, -1]
    assert len({config_key({"x": value}) for value in values}) == len(values)


def test_choices_that_python_calls_equal_stay_different():
    space = Space(x=Categorical((1, 1.0, True, "1")), only=Boolean(when={"x": [1.0]}))
    decoded = [space.decode([unit, 0.0]) for unit in (0.1, 0.3, 0.6, 0.9)]

    assert [config_key(config) for config in decoded] == [
        '{"x":1}',
        '{"only":false,"x":1.0}',
        '{"x":true}',
        '{"x":"1"}',
    ]
    assert [space.encode(config)[0] for config in decoded] == [0.0, 1.0, 2.0, 3.0]


json_values = st.one_of(
    scalars,
    st.integers(-9, 9).map(float),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.just([]) | st.just({}) | st.lists(scalars, max_size=2),
)
multiples = st.builds(
    lambda first, count, step: Int(first * step, (first + count) * step + 1, step=step),
    *(st.integers(-9, 9), st.integers(0, 10**6), st.integers(2, 9)),
)
describable_spaces = spaces(st.one_of(continua, lists, multiples, log_ints))


def schema_of(space):
    """Return what judges configs by the schema alone, after a journey through JSON."""
    schema = json.loads(json.dumps(space.schema()))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def spellings(config):
    """Yield the config with its whole numbers written with and without a point, which JSON Schema ignores."""
    for values in product(*map(spelled, config.values())):
        yield dict(zip(config, values, strict=True))


def spelled(value):
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return [value]
    return [int(value), *([float(value), -float(value)] if value == 0 else [float(value)])]


@st.composite
def near_configs(draw, space):
    """A config of the space, with one of its values left out, exchanged or added."""
    config = space.decode(units(draw, space))
    name = draw(st.sampled_from([*space.dimensions, "e"]))
    change = draw(st.sampled_from(["nothing", "left out", "valid", "anything"]))
    if change == "left out":
        config.pop(name, None)
    elif change == "anything" or name not in space.dimensions:
        config[name] = draw(json_values)
    elif change != "nothing":
        config[name] = space.dimensions[name].decode(draw(st.floats(0, 1, exclude_max=True)))
    return config


@settings(max_examples=300)
@given(data=st.data(), space=describable_spaces)
def test_the_json_schema_accepts_what_the_space_accepts(data, space):
    try:
        schema = schema_of(space)
    except SpaceError as error:
        assume("one number to JSON Schema" not in str(error))
        raise
    config = data.draw(near_configs(space))

    assert schema.is_valid(config) == any(is_valid(space, spelling) for spelling in spellings(config))


@pytest.mark.parametrize(
    "dimension",
    [
        Float(-1, 2.5),
        Int(-1, 9),
        Int(-2, 9, step=3),
        Int(-3, 10, step=3),
        Int(2, 8, log=True),
        Ordinal((4, 2.5, "2", None, True)),
        Boolean(),
    ],
)
def test_the_json_schema_of_a_dimension_accepts_its_values_and_no_others(dimension):
    space = Space(x=dimension)
    schema = schema_of(space)
    for value in [*range(-4, 12), *(half / 2 for half in range(-8, 24)), True, False, None, "2", [2]]:
        valid = any(is_valid(space, spelling) for spelling in spellings({"x": value}))
        assert schema.is_valid({"x": value}) == valid


def test_to_the_json_schema_a_number_is_the_same_with_and_without_a_point_but_no_boolean():
    schema = schema_of(Space(n=Int(0, 2), k=Categorical((1.0, "1")), flag=Boolean()))

    assert schema.is_valid({"n": 1, "k": 1.0, "flag": True})
    assert schema.is_valid({"n": 1.0, "k": 1, "flag": True})
    assert not schema.is_valid({"n": True, "k": 1.0, "flag": True})
    assert not schema.is_valid({"n": 1, "k": True, "flag": True})
    assert not schema.is_valid({"n": 1, "k": 1.0, "flag": 1})


def test_a_condition_that_tells_1_from_1_0_has_no_json_schema():
    choices = Categorical((1, 1.0, True))
    with pytest.raises(SpaceError, match=r"'only': .* tells 1\.0 from 1 of 'x'.*write them as strings"):
        Space(x=choices, only=Boolean(when={"x": [1.0]})).schema()

    both = Space(x=choices, only=Boolean(when={"x": [1.0, 1]}))
    assert schema_of(both).is_valid({"x": 1, "only": True})
    assert schema_of(both).is_valid({"x": True})


def test_a_step_that_no_keyword_can_say_is_in_the_description():
    few, many = Int(1, 29_998, step=3), Int(1, 30_001, step=3)
    assert not schema_of(Space(x=few)).is_valid({"x": 3})
    assert schema_of(Space(x=few)).is_valid({"x": 29_998})

    assert schema_of(Space(x=many)).is_valid({"x": 3})
    assert not schema_of(Space(x=many)).is_valid({"x": 30_004})
    assert many.schema()["description"] == "1 plus a multiple of 3"
