import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.search.acceptance import linear

finite = st.floats(allow_nan=False, allow_infinity=False)
known = st.lists(finite, min_size=3, max_size=3).map(sorted)  # best, estimate, worst


@given(known=known)
def test_an_acceptance_is_a_probability_whatever_the_losses(known):
    best, estimate, worst = known
    assert 0 <= linear(estimate, best=best, worst=worst) <= 1


@given(best=finite, worst=finite)
def test_the_best_is_always_kept_and_the_worst_never(best, worst):
    best, worst = sorted((best, worst))
    assert linear(best, best=best, worst=worst) == 1
    assert linear(worst, best=best, worst=worst) == (1 if best == worst else 0)


@given(losses=st.lists(finite, min_size=4, max_size=4).map(sorted))
def test_a_better_estimate_is_never_kept_less_often(losses):
    kept = [linear(loss, best=losses[0], worst=losses[-1]) for loss in losses]
    assert all(better >= worse for better, worse in pairwise(kept))


@given(part=st.integers(0, 64), scale=st.integers(-1000, 900), shift=st.integers(-100, 100))
def test_between_best_and_worst_the_acceptance_is_a_straight_line(part, scale, shift):
    best, estimate, worst = (math.ldexp(shift + step, scale) for step in (0, part, 64))
    assert linear(estimate, best=best, worst=worst) == (64 - part) / 64


@pytest.mark.parametrize(("estimate", "expected"), [(-1e308, 1.0), (0.0, 0.5), (1e308, 0.0), (5e307, 0.25)])
def test_a_range_beyond_the_largest_float_is_still_a_straight_line(estimate, expected):
    assert linear(estimate, best=-1e308, worst=1e308) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("estimate", "expected"), [(0.0, 1.0), (5e-324, 0.5), (1e-323, 0.0)])
def test_a_range_of_the_smallest_floats_is_still_a_straight_line(estimate, expected):
    assert linear(estimate, best=0.0, worst=1e-323) == expected


@pytest.mark.parametrize(("estimate", "expected"), [(-0.1, 1.0), (1.1, 0.0)])
def test_an_estimate_beyond_what_is_known_is_held_to_a_probability(estimate, expected):
    assert linear(estimate, best=0.0, worst=1.0) == expected
