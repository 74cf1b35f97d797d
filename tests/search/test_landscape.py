import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsRegressor

from thiessen.search import Landscape
from thiessen.search.landscape import TIE
from thiessen.space import Boolean, Categorical, Float, Int, Space


def coordinate(dimension, value):
    """Return where a number or an ordered choice lies in [0, 1], straight from the definition."""
    if isinstance(dimension, Float):
        low, high, at = dimension.low, dimension.high, value
    elif isinstance(dimension, Int) and dimension.log:
        low, high = dimension.low - 0.5, dimension.high + 0.5
        at = math.sqrt((value - 0.5) * (value + 0.5))
    else:
        values = list(dimension.values())
        return (values.index(value) + 0.5) / len(values)
    if dimension.log:
        low, high, at = math.log(low), math.log(high), math.log(at)
    return (at - low) / (high - low)


def squared_distance(space, one, other):
    total = 0.0
    for name, dimension in space.dimensions.items():
        if (name in one) != (name in other):
            total += 1
        elif name in one and not dimension.ordered:
            total += one[name] != other[name]
        elif name in one:
            total += (coordinate(dimension, one[name]) - coordinate(dimension, other[name])) ** 2
    return total


@settings(max_examples=150)
@given(data=st.data())
def test_the_nearest_trial_is_that_of_the_definition(data, mixed_landscapes, a_config):
    landscape, told = data.draw(mixed_landscapes())
    config = a_config(landscape.space, seed=data.draw(st.integers(0, 999)), trial=1_000)
    squared = [squared_distance(landscape.space, config, other) for other, _ in told]
    tied = [trial for trial, distance in enumerate(squared) if distance <= min(squared) + TIE]
    worst = max((loss for _, loss in told if loss is not None), default=-math.inf)
    tied_losses = [told[trial][1] for trial in tied]

    nearest = landscape.nearest(config)

    if not told:
        assert nearest is None
        return
    assert nearest.trial in tied
    assert nearest.distance == pytest.approx(math.sqrt(min(squared)), abs=1e-7)
    assert nearest.diverged == all(loss is None for loss in tied_losses)
    assert nearest.estimate == pytest.approx(fmean(worst if loss is None else loss for loss in tied_losses))


def test_the_estimate_is_that_of_scikit_learn(a_landscape, a_config):
    space = Space(a=Float(0.0, 1.0), b=Float(1e-3, 1.0, log=True), c=Float(-5.0, 5.0))
    landscape, told = a_landscape(space, [float(trial % 17) for trial in range(300)])
    oracle = KNeighborsRegressor(n_neighbors=1)
    oracle.fit([space.encode(config) for config, _ in told], [loss for _, loss in told])

    asked = [a_config(space, seed=1, trial=trial) for trial in range(200)]

    estimates = [landscape.nearest(config).estimate for config in asked]
    assert estimates == list(oracle.predict([space.encode(config) for config in asked]))


def test_nothing_is_near_before_anything_finished():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    landscape.take({"x": 0.5})
    assert landscape.nearest({"x": 0.5}) is None
    assert len(landscape) == 0


def test_two_different_choices_are_as_far_apart_as_a_whole_range():
    landscape = Landscape(Space(kind=Categorical(("a", "b", "c")), flag=Boolean(), x=Float(0.0, 1.0)))
    landscape.observe(0, {"kind": "a", "flag": False, "x": 0.0}, 1.0)
    distances = [
        landscape.nearest({"kind": kind, "flag": flag, "x": x}).distance
        for kind, flag, x in [("b", False, 0.0), ("c", False, 0.0), ("a", True, 0.0), ("a", False, 1.0)]
    ]
    assert distances == [1.0, 1.0, 1.0, 1.0]


def test_active_and_inactive_are_one_apart_and_two_inactive_are_not_apart():
    space = Space(flag=Boolean(), x=Float(0.0, 1.0, when={"flag": [True]}))
    landscape = Landscape(space)
    landscape.observe(0, {"flag": False}, 1.0)
    assert landscape.nearest({"flag": False}).distance == 0.0
    assert landscape.nearest({"flag": True, "x": 0.0}).distance == math.sqrt(2.0)


@pytest.mark.parametrize(("second", "expected"), [(3.0, 2.0), (None, 5.0)])
def test_the_losses_of_a_tie_are_averaged_a_diverged_one_as_the_worst(a_line, second, expected):
    landscape = a_line((0.25, 1.0), (0.75, second), (0.0, 9.0))

    nearest = landscape.nearest({"x": 0.5})

    assert (nearest.estimate, nearest.diverged, nearest.distance) == (expected, False, 0.25)


@pytest.mark.parametrize(("offset", "expected"), [(1e-13, 2.0), (1e-11, 1.0)])
def test_a_tie_is_squared_distances_within_1e_12(a_line, offset, expected):
    landscape = a_line((0.25, 1.0), (0.75 + offset, 3.0))
    assert landscape.nearest({"x": 0.5}).estimate == expected


def test_replicates_of_one_config_count_as_their_mean(a_line):
    assert a_line((0.5, 1.0), (0.5, 2.0), (0.5, 6.0)).nearest({"x": 0.9}).estimate == 3.0


@pytest.mark.parametrize("loss", [1.7e308, -1.7e308, 5e-324])
def test_the_mean_of_huge_or_tiny_losses_is_that_loss(a_line, loss):
    landscape = a_line((0.25, loss), (0.75, loss))
    assert landscape.nearest({"x": 0.5}).estimate == pytest.approx(loss, abs=5e-324)


@given(values=st.lists(st.one_of(st.none(), st.floats(-1e300, 1e300)), max_size=30))
def test_diverged_trials_never_move_best_or_worst(values, a_line):
    finite = [loss for loss in values if loss is not None]
    landscape = a_line(*((0.5, loss) for loss in values))

    assert landscape.best == min(finite, default=math.inf)
    assert landscape.worst == max(finite, default=-math.inf)
    assert len(landscape) == len(values)


def test_where_everything_diverged_nothing_finite_is_known(a_line):
    nearest = a_line((0.2, None), (0.2, None), (0.8, 1.0)).nearest({"x": 0.1})
    assert (nearest.trial, nearest.diverged) == (0, True)


def test_a_landscape_grows_past_its_first_capacity_and_forgets_nothing(a_line):
    landscape = a_line(*((position / 100, float(position)) for position in range(101)))
    found = [landscape.nearest({"x": position / 100}) for position in range(101)]

    assert [nearest.trial for nearest in found] == list(range(101))
    assert [nearest.estimate for nearest in found] == [float(position) for position in range(101)]


def test_the_order_of_observations_does_not_matter(a_config, a_landscape):
    space = Space(x=Float(0.0, 1.0), kind=Categorical(("a", "b")))
    landscape, told = a_landscape(space, [float(trial % 5) for trial in range(40)])
    backwards = Landscape(space)
    for trial, (config, loss) in reversed(list(enumerate(told))):
        backwards.observe(trial, config, loss)

    for trial in range(100):
        asked = a_config(space, seed=1, trial=trial)
        assert backwards.nearest(asked) == landscape.nearest(asked)


def test_a_config_is_taken_whatever_the_order_of_its_names():
    landscape = Landscape(Space(a=Boolean(), b=Int(0, 1)))
    landscape.take({"a": True, "b": 1})
    assert landscape.is_taken({"b": 1, "a": True})
    assert not landscape.is_taken({"a": True, "b": 0})


def test_asking_changes_nothing(a_line):
    landscape = a_line((0.25, 1.0), (0.75, None))
    points, losses = landscape._points[:2].copy(), landscape._losses[:2].copy()

    landscape.nearest({"x": 0.3})

    assert np.array_equal(landscape._points[:2], points)
    assert np.array_equal(landscape._losses[:2], losses, equal_nan=True)
