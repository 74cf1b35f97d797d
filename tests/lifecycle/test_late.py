"""Results that come when their lease is lost are kept, and count where the trial has no other."""

import pytest

from app.domain.errors import LeaseLost, ResultDiffers
from app.domain.trial import Cause, TrialState
from app.lifecycle import lease
from app.storage import trials
from app.storage.studies import Asked
from tests.lifecycle.conftest import LONG_AGO


@pytest.fixture
def lost(desk, clock):
    """A lease whose trial another attempt has; and that attempt."""
    desk.submit(max_trials=1, max_attempts=3)
    slow = desk.lease()
    clock.advance(desk.lease_for)
    return slow, desk.lease()


@pytest.mark.row(244)
def test_a_late_result_is_kept_with_its_attempt_and_does_not_count_beside_another(desk, lost):
    slow, fast = lost
    with pytest.raises(LeaseLost):
        desk.complete(slow, 0.1)
    desk.complete(fast, 0.2)

    assert desk.trial().loss == 0.2
    assert desk.trial().attempts[0].late["loss"] == 0.1
    with pytest.raises(LeaseLost):
        desk.complete(slow, 0.1)
    with pytest.raises(ResultDiffers):
        desk.complete(slow, 0.3)


@pytest.mark.row(244)
@pytest.mark.parametrize("ending", ["fail", "release"])
def test_a_late_result_counts_when_the_other_attempt_brings_none(desk, lost, ending):
    slow, fast = lost
    with pytest.raises(LeaseLost):
        desk.complete(slow, 0.1)

    getattr(desk, ending)(fast)

    assert (desk.trial().state, desk.trial().cause, desk.trial().loss) == (
        TrialState.SUCCEEDED,
        Cause.LATE,
        0.1,
    )
    assert desk.standing().state == "completed"
    desk.complete(slow, 0.1)  # told again it is as good as told


def test_a_late_result_counts_when_the_other_attempt_falls_silent_and_the_trial_is_not_given_again(
    desk, lost, clock
):
    slow, fast = lost
    with pytest.raises(LeaseLost):
        desk.complete(slow, 0.1)
    clock.advance(desk.lease_for)
    desk.submit(name="other")

    assert desk.lease(expires=False).study == "other"
    desk.expire()

    assert (desk.trial().state, desk.trial().loss, len(desk.trial().attempts)) == ("succeeded", 0.1, 2)
    with pytest.raises(LeaseLost):
        desk.complete(fast, 0.2)
    assert desk.trial().loss == 0.1


def test_a_late_result_that_comes_between_the_plan_and_the_claim_is_seen(desk, lost, clock):
    slow, _ = lost
    clock.advance(desk.lease_for)
    asked = Asked(tasks=["t"], names=None, project=None)
    [overdue] = desk.store.read(lambda tx: list(trials.overdue(tx, LONG_AGO, asked)))

    with pytest.raises(LeaseLost):
        desk.complete(slow, 0.1)

    assert desk.store.write(lambda tx: lease._overdue(tx, overdue.trial_id)) is None


def test_a_late_result_counts_at_once_when_the_trial_waits(desk, lost):
    slow, fast = lost
    desk.fail(fast)

    desk.complete(slow, 0.1)

    assert (desk.trial().state, desk.trial().loss) == (TrialState.SUCCEEDED, 0.1)


def test_a_late_result_counts_at_once_when_the_trial_has_failed_and_the_search_learns_of_it(desk, clock):
    desk.submit(max_trials=2, max_attempts=1)
    slow = desk.lease()
    clock.advance(desk.lease_for * 2)
    desk.expire()
    assert desk.trial().state is TrialState.FAILED

    desk.complete(slow, 0.1)

    assert desk.trial().loss == 0.1
    assert [(seen.trial, seen.outcome) for seen in desk.observations()] == [(0, "failed"), (0, "succeeded")]
    assert desk.landscape().best == 0.1


def test_a_cancelled_trial_stays_cancelled_whatever_comes_late(desk):
    desk.submit()
    leased = desk.lease()
    desk.cancel(0)

    with pytest.raises(LeaseLost, match="was cancelled"):
        desk.complete(leased, 0.1)

    assert desk.trial().state is TrialState.CANCELLED
    assert desk.trial().attempts[0].late["loss"] == 0.1
