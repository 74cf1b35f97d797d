import math
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, count, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from thiessen.search import Exhausted, Grid, History, Landscape, Stream
from thiessen.search.grid import permuted
from thiessen.search.strategy import StrategyError
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space, config_key

UNLIKELY = 0.001  # a chi-squared test on fixed seeds fails below this
ORDERS = ["row_major", "shuffled", "coarse_to_fine"]
SQUARE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))
orders = st.sampled_from(ORDERS)


def propose(grid, landscape, turn, seed=0):
    return grid.propose(landscape.space, landscape, turn, Stream(seed, trial=9))


def configs(grid, space, seed=0):
    landscape, found = Landscape(space), []
    with suppress(Exhausted):
        for turn in count():
            found.append(propose(grid, landscape, turn, seed).config)
            landscape.take(found[-1])
    return found


def levels(dimension, number):
    return [config["x"] for config in configs(Grid(number), Space(x=replace(dimension, when=None)))]


def keys(found):
    return [config_key(config) for config in found]


@pytest.mark.row(2)
def test_four_levels_of_a_learning_rate_are_its_powers_of_ten():
    assert levels(Float(1e-3, 1.0, log=True), 4) == [1e-3, 1e-2, 1e-1, 1.0]


@pytest.mark.row(2)
def test_a_hundred_trials_in_two_dimensions_are_ten_by_ten_with_the_end_points():
    space = Space(lr=Float(1e-4, 1e5, log=True), momentum=Float(0.0, 0.9))
    grid = Grid.for_budget(space, max_trials=100)

    found = [tuple(config.values()) for config in configs(grid, space)]

    rates = [10.0**power for power in range(-4, 6)]
    momenta = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert found == list(product(rates, momenta))


@pytest.mark.parametrize(
    ("dimension", "number", "expected"),
    [
        (Float(1e-3, 1e1, log=True), 1, [0.1]),
        (Float(2.0, 3.0), 1, [2.5]),
        (Float(2.0, 3.0), 2, [2.0, 3.0]),
        (Float(0.1234567890127, 0.9876543210982), 2, [0.1234567890127, 0.9876543210982]),
        (Float(2.0, 2.0), 5, [2.0]),
        (Int(0, 10), 1, [5]),
        (Int(0, 10), 3, [0, 5, 10]),
        (Int(1, 7, step=3), 10, [1, 4, 7]),
        (Int(0, 2**53), 3, [0, 2**52, 2**53]),
        (Int(1, 100, log=True), 1, [10]),
        (Int(1, 1000, log=True), 4, [1, 10, 100, 1000]),
        (Int(1, 20, log=True), 10, [1, 2, 3, 4, 5, 6, 7, 10, 14, 20]),
        (Ordinal(("a", "b", "c", "d", "e")), 3, ["a", "c", "e"]),
        (Ordinal(("a", "b")), 3, ["a", "b"]),
        (Categorical(("a", "b", "c")), 2, ["a", "b", "c"]),
        (Boolean(), 1, [False, True]),
    ],
)
def test_levels_are_evenly_spaced_on_the_scale_with_both_ends(dimension, number, expected):
    assert levels(dimension, number) == expected


@given(low=st.integers(1, 50), span=st.integers(0, 60), number=st.integers(2, 30), log=st.booleans())
def test_an_integer_has_as_many_different_levels_as_asked_or_as_there_are(low, span, number, log):
    found = levels(Int(low, low + span, log=log), number)

    assert found == sorted(set(found))
    assert len(found) == min(number, span + 1)
    assert (found[0], found[-1]) == (low, low + span)


def test_each_dimension_may_have_its_own_number_of_levels_and_has_ten_without():
    space = Space(x=Float(0.0, 1.0), n=Int(1, 100), kind=Categorical(("a", "b")))
    assert Grid({"x": 3}).size(space) == 3 * 10 * 2
    assert Grid().size(space) == 10 * 10 * 2


@settings(max_examples=60, deadline=None)
@given(data=st.data(), number=st.integers(1, 4), order=orders, seed=st.integers(0, 2**53 - 1))
def test_every_point_comes_exactly_once_and_conditions_are_expanded_where_they_hold(
    data, number, order, seed, mixed_spaces
):
    space = data.draw(mixed_spaces)
    whole = product(*(levels(dimension, number) for dimension in space.dimensions.values()))
    truth = {
        config_key(space._only_active(dict(zip(space.dimensions, point, strict=True)))) for point in whole
    }

    found = keys(configs(Grid(number, order), space, seed))

    assert Counter(found) == Counter(truth)
    assert Grid(number, order).size(space) == len(truth)


def test_in_row_major_order_the_last_dimension_changes_first():
    space = Space(a=Int(0, 2), b=Boolean(), c=Ordinal(("s", "t")))
    found = [tuple(config.values()) for config in configs(Grid(), space)]
    assert found == list(product((0, 1, 2), (False, True), ("s", "t")))


def test_a_point_is_found_by_its_number_in_a_grid_that_no_list_could_hold():
    space = Space(**{f"digit_{place:02}": Int(0, 9) for place in range(60)})
    turn = 314159265358979323846264338327950288419716939937510582097494

    config = propose(Grid(), Landscape(space), turn).config

    assert "".join(map(str, config.values())) == str(turn)


@settings(max_examples=30)
@given(size=st.integers(1, 200), key=st.text(max_size=5))
def test_a_shuffle_fills_every_place_once(size, key):
    assert sorted(permuted(index, size, key) for index in range(size)) == list(range(size))


def test_every_shuffle_is_equally_likely():
    shuffles = Counter(tuple(permuted(index, 4, f"{key}") for index in range(4)) for key in range(1_200))
    assert len(shuffles) == 24
    assert chisquare(list(shuffles.values())).pvalue > UNLIKELY


@pytest.mark.parametrize("order", ["shuffled", "coarse_to_fine"])
def test_the_seed_of_the_study_decides_the_shuffle(order):
    ours, again, theirs = (keys(configs(Grid(4, order), SQUARE, seed)) for seed in (1, 1, 2))
    assert ours == again
    assert ours != theirs
    assert sorted(ours) == sorted(theirs)


def test_coarse_to_fine_completes_one_evenly_spaced_grid_after_the_other():
    space = Space(x=Int(0, 9), kind=Categorical(("a", "b")), y=Int(0, 8))
    found = [(config["x"], config["kind"], config["y"]) for config in configs(Grid(order=ORDERS[2]), space)]

    stages = [([5], [4]), ([1, 5, 9], [0, 4, 8]), ([1, 3, 5, 7, 9], [0, 2, 4, 6, 8]), (range(10), range(9))]
    for xs, ys in stages:
        stage = set(product(xs, "ab", ys))
        assert set(found[: len(stage)]) == stage


def test_coarse_to_fine_never_leaves_a_larger_gap_than_row_major():
    everywhere = [tuple(config.values()) for config in configs(Grid(9), SQUARE)]
    coarse = [tuple(config.values()) for config in configs(Grid(9, "coarse_to_fine"), SQUARE)]
    ours, theirs = gaps(coarse, everywhere), gaps(everywhere, everywhere)

    assert all(our <= their for our, their in zip(ours, theirs, strict=True))
    assert ours[8] < theirs[8] / 2


def gaps(found, everywhere):
    """Return the largest distance from any point to the nearest one tried, after each trial."""
    nearest, largest = [math.inf] * len(everywhere), []
    for tried in found:
        nearest = [min(d, math.dist(tried, point)) for d, point in zip(nearest, everywhere, strict=True)]
        largest.append(max(nearest))
    return largest


@settings(deadline=None)
@given(
    order=orders,
    events=st.lists(st.one_of(st.sampled_from(["propose", "race", "crash"]), st.integers(0, 11))),
)
def test_nothing_is_missed_or_repeated_whoever_takes_points_races_or_crashes(order, events):
    space = Space(a=Int(0, 3), b=Int(0, 2))
    landscape, everything = Landscape(space), list(space.points([0.0, 0.0]))
    proposed, enqueued = [], set()

    for event in [*events, *["propose"] * 13]:
        if isinstance(event, int):
            landscape.take(everything[event])
            enqueued.add(config_key(everything[event]))
            continue
        with suppress(Exhausted):
            point = propose(Grid(4, order), landscape, turn=len(proposed)).config
            if event == "crash":
                continue  # nothing was stored, so the turn is proposed again, whatever is taken meanwhile
            assert config_key(point) not in enqueued
            landscape.take(point)
            proposed.append(config_key(point))
            if event == "race":  # the loser had the same turn; it is to think again, for the next
                again = propose(Grid(4, order), landscape, turn=len(proposed)).config
                landscape.take(again)
                proposed.append(config_key(again))

    assert len(set(proposed)) == len(proposed)
    assert set(proposed) | enqueued == set(keys(everything))


@given(order=orders, enqueued=st.lists(st.integers(0, 11), max_size=30), seed=st.integers(0, 99))
def test_where_duplicates_are_allowed_each_point_is_proposed_once_whatever_is_enqueued(order, enqueued, seed):
    space = Space(a=Int(0, 3), b=Int(0, 2))
    history, everything = History(space, duplicates="allow"), list(space.points([0.0, 0.0]))
    proposed = []
    with suppress(Exhausted):
        for turn in count():
            for index in enqueued[2 * turn : 2 * turn + 2]:
                history.number(everything[index])
            proposed.append(propose(Grid(4, order), history.landscape, turn, seed).config)
            history.number(proposed[-1])

    assert sorted(keys(proposed)) == sorted(keys(everything))


def test_a_taken_point_is_passed_over_and_counted():
    landscape = Landscape(SQUARE)
    first, second = configs(Grid(2), SQUARE)[:2]
    landscape.take(first)

    proposal = propose(Grid(2), landscape, 0)

    assert (proposal.config, proposal.reasons.refused) == (second, 1)


@given(data=st.data(), budget=st.integers(1, 3_000))
def test_a_grid_for_a_budget_fits_and_one_more_level_would_not(data, budget, mixed_spaces):
    space = data.draw(mixed_spaces)
    grid = Grid.for_budget(space, budget)
    choices, finer = Grid(1).size(space), Grid(grid.levels + 1).size(space)

    assert grid.size(space) <= max(budget, choices)
    assert finer > budget or grid.levels == budget


@pytest.mark.parametrize(("dimensions", "expected"), [(1, 100), (2, 10), (3, 4), (6, 2), (7, 1)])
def test_a_budget_of_a_hundred_has_the_root_of_it_in_levels(dimensions, expected):
    space = Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(dimensions)})
    assert Grid.for_budget(space, 100).levels == expected


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"levels": 0}, "has 1 level or more"),
        ({"levels": {"x": 2.5}}, r"a whole number; got 2\.5"),
        ({"levels": True}, "got True"),
        ({"order": "random"}, "the order of a grid is one of"),
    ],
)
def test_settings_that_make_no_grid_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        Grid(**wrong)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"z": 3}, "'z' has levels but is no dimension"),
        ({"flag": 2}, "of dimension 'flag' all values are tried"),
    ],
)
def test_levels_that_do_not_suit_the_space_are_refused(named, sentence):
    with pytest.raises(StrategyError, match=sentence):
        Grid(named).size(Space(x=Float(0.0, 1.0), flag=Boolean()))


def test_a_grid_without_levels_gets_in_a_study_as_many_as_fit_into_its_budget():
    assert Grid(order="shuffled").settled(SQUARE, max_trials=30) == Grid(5, "shuffled")
    assert Grid(7).settled(SQUARE, max_trials=30) == Grid(7)


def test_a_grid_that_does_not_suit_the_space_of_a_study_is_refused():
    with pytest.raises(StrategyError, match="'z' has levels"):
        Grid({"z": 3}).settled(SQUARE, max_trials=30)


def test_a_space_that_cannot_be_counted_is_refused_rather_than_counted_for_ever():
    pairs = list(combinations([f"p{parent}" for parent in range(24)], 2))
    children = {
        f"c{number}": Boolean(when={name: [True] for name in pair}) for number, pair in enumerate(pairs[::2])
    }
    space = Space(**{name: Boolean() for pair in pairs for name in pair}, **children)

    with pytest.raises(StrategyError, match="hang together too much"):
        Grid().size(space)
