import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.comparison.found import an_arm
from thiessen.comparison.sensitivity import sensitivities


def test_near_the_best_is_measured_from_the_best_to_the_median_of_all_arms():
    a, b = an_arm("a", [[0.0, 1.0, 1.1]]), an_arm("b", [[10.0, 10.0, 12.0, 20.0]])

    # The median of all seven is 10, so that 11 % of the way is 1.1.
    assert [each.share for each in sensitivities([a, b], 11.0)] == [1.0, 0.0]
    assert [each.share for each in sensitivities([a, b], 10.5)] == [2 / 3, 0.0]


def test_trials_without_a_loss_are_never_near_the_best_and_count():
    arm = an_arm("a", [[1.0, 2.0, None, math.inf]])

    (found,) = sensitivities([arm], 10.0)

    assert (found.trials, found.share, found.diverged) == (4, 0.25, 0.25)


def test_where_nothing_succeeded_there_is_no_share():
    found = sensitivities([an_arm("a", [[None, math.inf]]), an_arm("b", [])], 10.0)

    assert [(each.share, each.diverged) for each in found] == [(None, 0.5), (None, None)]


def test_where_all_are_equal_all_are_near_the_best():
    (found,) = sensitivities([an_arm("a", [[2.0, 2.0, 2.0]])], 10.0)

    assert found.share == 1.0


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=30),
    st.sampled_from([0.5, 4.0]),
    st.integers(-64, 64),
)
def test_another_unit_and_another_origin_change_no_share(losses, unit, origin):
    plain, moved = an_arm("a", [losses]), an_arm("a", [[unit * loss + origin for loss in losses]])

    assert sensitivities([plain], 12.5) == sensitivities([moved], 12.5)


@pytest.mark.parametrize("is_random", [True, False])
def test_only_random_draws_look_everywhere_alike(is_random):
    (found,) = sensitivities([an_arm("a", [[1.0]], is_random=is_random)], 10.0)

    assert found.is_unbiased is is_random
