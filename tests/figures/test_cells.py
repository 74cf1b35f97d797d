"""The cells of a section."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from thiessen.figures.cells import area, cells, centre

COUNT = st.shared(st.integers(1, 30), key="count")
SITES = COUNT.flatmap(lambda many: arrays(float, (many, 2), elements=st.floats(0, 1, width=16)))
OFFSETS = COUNT.flatmap(lambda many: arrays(float, many, elements=st.floats(0, 2, width=16)))


def inside(corners, x, y):
    """Return whether a point is in a convex polygon, its edge included."""
    following = corners[1:] + corners[:1]
    turns = [(u - a) * (y - b) - (v - b) * (x - a) for (a, b), (u, v) in zip(corners, following, strict=True)]
    return min(turns) >= -1e-9 or max(turns) <= 1e-9


@given(SITES, OFFSETS)
def test_cells_fill_the_square_and_do_not_overlap(sites, offsets):
    assert sum(map(area, cells(sites, offsets))) == pytest.approx(1.0, abs=1e-6)


@given(SITES, OFFSETS, st.floats(0, 1), st.floats(0, 1))
def test_a_point_is_in_the_cell_of_the_site_that_is_nearest_by_power(sites, offsets, x, y):
    power = ((sites - [x, y]) ** 2).sum(axis=1) + offsets
    found = [corners for corners in cells(sites, offsets) if inside(corners, x, y)]

    assert found or np.sort(power)[:2].ptp() < 1e-6 if len(power) > 1 else found
    for corners in found:
        middle = centre(corners)
        there = ((sites - middle) ** 2).sum(axis=1) + offsets
        assert power[there.argmin()] == pytest.approx(power.min(), abs=1e-6)


def test_of_two_sites_at_one_point_the_nearer_one_has_the_cell():
    alone = cells(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0.3, 0.1]))

    assert [area(corners) for corners in alone] == [1.0]


def test_a_site_far_from_the_plane_may_have_none():
    found = cells(np.array([[0.2, 0.5], [0.8, 0.5]]), np.array([0.0, 5.0]))

    assert [area(corners) for corners in found] == [1.0]
