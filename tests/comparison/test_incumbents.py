import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.comparison.found import a_search
from thiessen.comparison.incumbents import incumbent

INF = math.inf


def test_the_best_so_far_is_infinite_before_the_first_success_and_steps_where_it_improves():
    found = incumbent(a_search(1, [None, 3.0, 4.0, 1.0]), "trials", 4)

    assert found.at(np.array([0.0, 1.0, 2.0, 3.0, 3.9, 4.0, 9.0])).tolist() == [INF, INF, 3, 3, 3, 1, 1]
    assert (found.final, found.trial) == (1.0, 3)


def test_failed_and_diverged_trials_spend_theirs():
    found = incumbent(a_search(1, [None, math.inf, 2.0], updates=10), "updates", 30)

    assert (found.spent.tolist(), found.best.tolist()) == ([30.0], [2.0])
    assert found.total == 30


@pytest.mark.parametrize(("budget", "final"), [(29, 3.0), (30, 1.0)])
def test_a_trial_that_ends_beyond_the_budget_is_too_late(budget, final):
    found = incumbent(a_search(1, [3.0, 4.0, 1.0], updates=10), "updates", budget)

    assert found.final == final
    assert found.total == 30


def test_seconds_are_counted_as_they_were_trained():
    found = incumbent(a_search(1, [3.0, 2.0], seconds=0.5), "seconds", 10.0)

    assert found.spent.tolist() == [0.5, 1.0]


def test_a_search_without_trials_has_no_best():
    found = incumbent(a_search(1, []), "trials", 3)

    assert (found.final, found.trial, found.total) == (INF, None, 0.0)
    assert found.at(np.array([1.0])).tolist() == [INF]


@given(st.lists(st.one_of(st.floats(-10, 10), st.none()), max_size=20), st.integers(1, 25))
def test_it_is_the_smallest_of_the_trials_so_far(losses, budget):
    found = incumbent(a_search(1, losses), "trials", budget)

    for spent in range(len(losses) + 1):
        known = [loss for loss in losses[: min(spent, budget)] if loss is not None]
        assert found.at(np.array([float(spent)]))[0] == min(known, default=INF)
