import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.made_up_searches import KEPT
from thiessen.comparison import bands

COMPARISONS = 1000
ARMS = 3
TRIALS = 30
SEARCHES = 200_000  # of which the true mean is taken: it is known to a hundredth of its interval


@cache
def mean_of_best(searches):
    best = KEPT[searches](np.random.default_rng(2), SEARCHES, TRIALS).min(axis=1)
    return best[np.isfinite(best)].mean()


@pytest.mark.row(269)
@pytest.mark.parametrize("searches", KEPT)
@pytest.mark.parametrize("replicates", [10, 20])
def test_a_band_has_the_true_mean_in_it_in_95_of_100_comparisons(searches, replicates):
    best = KEPT[searches](np.random.default_rng(1), COMPARISONS * ARMS * replicates, TRIALS).min(axis=1)
    losses = best.reshape(-1, replicates).T

    low, high = bands.band(losses[:, np.isfinite(losses).all(axis=0)])

    truth = mean_of_best(searches)
    assert 0.93 <= ((low <= truth) & (truth <= high)).mean() <= 0.97


def test_the_band_of_losses_without_skewness_is_that_of_student():
    losses = np.array([-3.0, -2.0, -2.0, -1.0, -1.0, 1.0, 1.0, 2.0, 2.0, 3.0])

    low, high = bands.band(losses[:, None])

    expected = stats.ttest_1samp(losses, 0.0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_the_ends_of_a_band_are_where_the_cubic_of_hall_is_the_quantile_of_student():
    losses = np.random.default_rng(5).exponential(size=12)
    far = stats.t.ppf(0.975, 11) / math.sqrt(11)

    low, high = bands.band(losses[:, None])

    skewness, many = stats.skew(losses), len(losses)
    ends = [(losses.mean() - end[0]) / losses.std() for end in (low, high)]
    straight = [
        each + skewness * each**2 / 3 + skewness**2 * each**3 / 27 + skewness / (6 * many) for each in ends
    ]
    assert straight == pytest.approx([far, -far], rel=1e-9)


def test_a_band_of_losses_skewed_to_the_bad_side_reaches_farther_there():
    losses = np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 6.0])[:, None]

    low, high = bands.band(losses)

    assert high - losses.mean() > 2 * (losses.mean() - low) > 0


def test_below_eight_replicates_there_is_no_band():
    low, high = bands.band(np.ones((7, 2)))

    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_where_one_search_has_no_success_the_mean_is_infinite_and_there_is_no_band():
    losses = np.ones((9, 2))
    losses[0, 0] = math.inf

    low, high = bands.band(losses)

    assert bands.mean(losses).tolist() == [math.inf, 1.0]
    assert np.isnan([low[0], high[0]]).all()
    assert (low[1], high[1]) == (1.0, 1.0)


some_losses = st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=40)


@given(some_losses)
def test_a_band_has_the_mean_in_it_and_stays_near_what_was_seen(losses):
    table = np.array(losses)[:, None]

    low, high = bands.band(table)

    spread = max(losses) - min(losses)
    room = 1e-9 * (spread + abs(table).max()) + 1e-300
    assert low[0] <= table.mean() + room
    assert table.mean() - room <= high[0]
    assert high[0] - low[0] <= 2.5 * spread + 2 * room


@given(some_losses, st.sampled_from([0.001, 3.0, 1e9]), st.floats(-100, 100))
def test_another_unit_and_another_origin_move_a_band_alike(losses, unit, origin):
    table = np.array(losses)[:, None]

    ends = np.array(bands.band(table))
    moved = np.array(bands.band(unit * table + origin))

    room = 1e-6 * unit * (np.ptp(table) + abs(table).max() + 1) + 1e-6 * abs(origin)
    assert abs(moved - (unit * ends + origin)).max() <= room
