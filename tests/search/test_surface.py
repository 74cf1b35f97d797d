import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import RBFInterpolator

from tests.search.conftest import mixed_spaces
from thiessen.numbers import Stream
from thiessen.search.surface import RIDGE, Equations, Surface
from thiessen.space import Boolean, Categorical, Float, Space


def cube(dimensions):
    return Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(dimensions)})


@given(dimensions=st.integers(1, 6), more=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
def test_scipy_draws_the_same_surface(dimensions, more, seed):
    random = np.random.default_rng(seed)
    points, asked = random.random((dimensions + more, dimensions)), random.random((20, dimensions))
    values = random.normal(size=len(points))

    ours = Surface(cube(dimensions), points.tolist(), values.tolist())(asked.tolist())

    theirs = RBFInterpolator(points, values, kernel="cubic", degree=1, smoothing=RIDGE)(asked)
    assert ours.tolist() == pytest.approx(theirs.tolist(), rel=1e-4, abs=1e-4)


@given(dimensions=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_a_plane_is_met_everywhere(dimensions, seed):
    random = np.random.default_rng(seed)
    points, asked = random.random((30, dimensions)), random.random((20, dimensions))
    slope = random.normal(size=dimensions)

    surface = Surface(cube(dimensions), points.tolist(), (1.0 + points @ slope).tolist())

    assert surface(asked.tolist()).tolist() == pytest.approx((1.0 + asked @ slope).tolist(), abs=1e-5)


@given(seed=st.integers(0, 2**32 - 1), place=st.floats(0, 1))
def test_a_dimension_in_which_all_points_agree_gets_no_slope(seed, place):
    random = np.random.default_rng(seed)
    points, values = random.random((20, 2)), random.normal(size=20)
    points[:, 0] = place

    surface = Surface(cube(2), points.tolist(), values.tolist())

    to_the_left, to_the_right = surface([[place - 0.25, 0.4], [place + 0.25, 0.4]])
    assert to_the_left == pytest.approx(to_the_right, abs=1e-3)


def test_through_values_at_one_place_it_passes_at_their_mean():
    points = [[place / 4] for place in range(5) for _ in range(3)]
    means = [1.0, 0.0, 2.0, 2.0, 1.0]
    values = [mean + error for mean in means for error in (-0.3, 0.1, 0.2)]

    surface = Surface(cube(1), points, values)

    assert surface(points[::3]).tolist() == pytest.approx(means, abs=1e-3)  # smoothed a little


def test_it_meets_its_values_over_choices_and_conditions():
    space = Space(
        kind=Categorical(("a", "b", "c")), rate=Float(0.0, 1.0, when={"kind": ["a"]}), flag=Boolean()
    )
    configs = [
        {"kind": "a", "rate": 0.1, "flag": True},
        {"kind": "a", "rate": 0.9, "flag": True},
        {"kind": "b", "flag": False},
        {"kind": "b", "flag": True},
        {"kind": "c", "flag": False},
    ]
    points, values = [space.encode(config) for config in configs], [3.0, 1.0, -2.0, 0.0, 5.0]

    assert Surface(space, points, values)(points).tolist() == pytest.approx(values, abs=1e-4)


def test_the_order_of_choices_changes_nothing():
    random = np.random.default_rng(3)
    space = Space(x=Float(0.0, 1.0), kind=Categorical(("a", "b", "c", "d")))
    points = np.column_stack([random.random(30), np.arange(30) % 4])
    values, other_codes = random.normal(size=30), np.array([2.0, 0.0, 3.0, 1.0])
    renamed = np.column_stack([points[:, 0], other_codes[np.arange(30) % 4]])
    asked = [[0.3, code] for code in range(4)]

    heights = Surface(space, points.tolist(), values.tolist())(asked)

    renamed_asked = [[0.3, code] for code in other_codes.tolist()]
    renamed_heights = Surface(space, renamed.tolist(), values.tolist())(renamed_asked)
    assert heights.tolist() == pytest.approx(renamed_heights.tolist(), abs=1e-6)


@given(data=st.data(), count=st.integers(1, 40), seed=st.integers(0, 99))
def test_whatever_the_space_and_however_points_coincide_heights_are_finite(data, count, seed):
    space = data.draw(mixed_spaces())
    stream = Stream(seed, 0)
    few = [space.encode(space.decode([stream.uniform() for _ in space.dimensions])) for _ in range(3)]
    points = [few[stream.integer(3)] for _ in range(count)]
    heights = Surface(space, points, [stream.normal() for _ in points])(few)
    assert all(map(math.isfinite, heights))


@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 3.0]), min_size=16, max_size=16))
def test_equations_are_solved_in_any_order_of_their_rows(numbers):
    matrix = np.array(numbers).reshape(4, 4)
    truth = np.array([1.0, -2.0, 3.0, 0.5])
    found = Equations(matrix).solved(matrix @ truth)
    assert matrix @ found == pytest.approx(matrix @ truth, abs=1e-8)
