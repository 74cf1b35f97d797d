import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from thiessen.comparison.pairs import holm, least_p, paired, share, signed_rank

INF = math.inf


def every_sign(differences):
    """Return the p-value by trying every sign of what is not zero, zeros being ranked."""
    ranks = stats.rankdata(np.abs(differences))[differences != 0]
    seen = ranks[differences[differences != 0] > 0].sum()
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in product([0, 1], repeat=len(ranks))
    ]
    centre = ranks.sum() / 2
    return np.mean([abs(each - centre) >= abs(seen - centre) - 1e-9 for each in sums])


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_the_test_is_exact_with_ties_and_zeros(differences):
    differences = np.array(differences, dtype=float)

    assert signed_rank(differences) == pytest.approx(every_sign(differences), rel=1e-12)


@pytest.mark.row(269)
@given(
    st.lists(st.floats(-100, 100), min_size=3, max_size=40, unique_by=abs).filter(
        lambda each: 0.0 not in each
    )
)
def test_without_ties_it_is_the_exact_test_of_wilcoxon(differences):
    expected = stats.wilcoxon(differences, method="exact").pvalue

    assert signed_rank(np.array(differences)) == pytest.approx(expected, rel=1e-9)


def test_a_zero_strengthens_nothing():
    without, with_zeros = np.array([1.0, 2.0, 3.0, 4.0, 5.0, -1.5]), np.array([0.0] * 4)

    assert signed_rank(np.concatenate([without, with_zeros])) >= signed_rank(without)
    assert signed_rank(np.zeros(10)) == 1.0


def test_an_infinite_loss_against_a_finite_one_is_the_largest_difference():
    pair = paired(np.array([1.0, 1.0, 1.0, 5.0]), np.array([INF, 2.0, 3.0, 1.0]))

    as_large = paired(np.array([1.0, 1.0, 1.0, 5.0]), np.array([99.0, 2.0, 3.0, 1.0]))
    assert (pair.p, pair.wins, pair.losses) == (as_large.p, 3, 1)


def test_two_infinite_losses_are_a_tie():
    first, second = np.array([INF, 1.0, 1.0, 9.0]), np.array([INF, 2.0, 3.0, 1.0])

    assert paired(first, second) == paired(
        np.nan_to_num(first, posinf=7.0), np.nan_to_num(second, posinf=7.0)
    )
    assert paired(first, second).ties == 1


def test_the_smallest_p_is_that_of_pairs_of_one_sign():
    assert signed_rank(np.arange(1.0, 11.0)) == least_p(10) == 2 / 1024


def test_the_difference_is_the_median_of_all_means_of_two_and_its_interval_counts_them_off():
    first, second = np.zeros(8), np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])

    pair = paired(first, second)

    means = sorted((second[i] + second[j]) / 2 for i in range(8) for j in range(i, 8))
    assert pair.difference == np.median(means)
    assert (pair.low, pair.high) == (means[3], means[-4])  # 3 is the usual table's critical value at n = 8


@given(st.lists(st.integers(-6, 6), min_size=6, max_size=10))
@settings(max_examples=50)
def test_a_shift_within_the_interval_is_one_that_the_test_does_not_refuse(doubled):
    """Where differences have no ties, the interval is the set of shifts with a p above 5 %."""
    differences = np.array(doubled, dtype=float) + np.sqrt(np.arange(2, 2 + len(doubled)))
    pair = paired(np.zeros(len(differences)), differences)

    inside = pair.low + (pair.high - pair.low) * np.array([1e-6, 0.3, 0.6, 1 - 1e-6])
    outside = np.array([pair.low - 1e-6, pair.high + 1e-6])
    assert all(signed_rank(differences - shift) > 0.05 for shift in inside)
    assert all(signed_rank(differences - shift) <= 0.05 for shift in outside)


def test_the_interval_has_the_true_difference_in_it_as_often_as_it_says():
    chance = np.random.default_rng(4)
    pairs = [paired(chance.normal(size=10), chance.normal(size=10) + 1) for _ in range(2000)]

    covered = np.mean([pair.low <= 1 <= pair.high for pair in pairs])
    assert 0.94 <= covered <= 0.965  # 1 - 2 P(W <= 8) = 0.9512 at n = 10, give or take the simulation


def test_opposite_infinite_differences_leave_the_interval_open():
    first = np.array([INF, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    second = np.array([1.0, INF, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])

    pair = paired(first, second)

    assert (pair.low, pair.high) == (-INF, INF)
    assert pair.difference == 1.0


@given(
    st.lists(
        st.tuples(st.floats(-10, 10), st.one_of(st.floats(-10, 10), st.just(INF))), min_size=1, max_size=15
    )
)
def test_the_other_way_round_everything_is_mirrored(pairs):
    first, second = (np.array(each) for each in zip(*pairs, strict=True))

    one, other = paired(first, second), paired(second, first).turned()

    assert one.p == other.p
    assert (one.wins, one.losses, one.ties) == (other.wins, other.losses, other.ties)
    assert (one.low, one.high) == (other.low, other.high)
    assert one.difference == pytest.approx(other.difference, nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_refuses_what_stepping_down_refuses(values):
    adjusted = holm(values)

    for level in (0.01, 0.05, 0.2):
        refused, order = set(), np.argsort(values, kind="stable").tolist()
        for rank, at in enumerate(order):
            if values[at] * (len(values) - rank) > level:
                break
            refused.add(at)
        assert {at for at, each in enumerate(adjusted) if each <= level} == refused


def test_holm_of_three_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_chance_to_win_has_the_interval_of_clopper_and_pearson(wins, losses):
    if wins + losses == 0:
        assert share(wins, losses) is None
        return
    expected = stats.binomtest(wins, wins + losses).proportion_ci(0.95, "exact")

    assert share(wins, losses) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)
