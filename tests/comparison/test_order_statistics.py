import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.comparison.order_statistics import expected_best


@given(st.lists(st.one_of(st.floats(-1e3, 1e3), st.just(math.inf)), min_size=1, max_size=9), st.data())
def test_the_expected_best_is_the_mean_over_every_subset(losses, data):
    n = data.draw(st.integers(1, len(losses)))

    every = [min(subset) for subset in combinations(losses, n)]

    assert expected_best(np.array(losses), [n])[0] == pytest.approx(math.fsum(every) / len(every), abs=1e-9)


def test_of_uniform_losses_it_is_one_part_of_n_plus_one_and_unbiased():
    chance, counts = np.random.default_rng(1), [1, 2, 5, 10, 40]
    found = np.array([expected_best(chance.random(40), counts) for _ in range(4000)])

    errors = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert (abs(found.mean(axis=0) - [1 / (n + 1) for n in counts]) < 3 * errors).all()


def test_of_evenly_spaced_losses_it_is_the_expected_smallest_of_a_draw_without_replacement():
    found = expected_best(np.arange(1.0, 101.0), [1, 7, 50, 100])

    assert found == pytest.approx([101 / (n + 1) for n in (1, 7, 50, 100)], rel=1e-12)


def test_it_is_infinite_exactly_where_a_subset_can_have_no_success():
    losses = np.array([1.0, math.inf, 2.0, math.inf])

    assert np.isinf(expected_best(losses, [1, 2, 3, 4])).tolist() == [True, True, False, False]


def test_of_a_hundred_thousand_trials_nothing_overflows():
    losses = np.linspace(0.0, 1.0, 100_000)

    assert expected_best(losses, [10, 50_000])[0] == pytest.approx(1 / 11, rel=1e-4)


@pytest.mark.parametrize("n", [0, 4])
def test_a_subset_that_there_is_not_is_refused(n):
    with pytest.raises(ValueError, match="1 to 3 trials"):
        expected_best(np.ones(3), [n])
