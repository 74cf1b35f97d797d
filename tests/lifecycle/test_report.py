from concurrent.futures import ThreadPoolExecutor

import pytest

from app.domain.errors import LeaseLost, ResultDiffers
from app.domain.trial import Cause, Result, TrialState


def points(*steps):
    return [{"step": step, "metrics": {"loss": step / 10}} for step in steps]


def test_a_result_is_ranked(desk):
    desk.submit()
    for loss in (0.3, 0.1, 0.2):
        desk.complete(desk.lease(), loss)

    assert [(ranked.rank, ranked.number, ranked.loss) for ranked in desk.best(2)] == [
        (1, 1, 0.1),
        (2, 2, 0.2),
    ]


@pytest.mark.row(245)
def test_a_diverged_trial_is_a_result_and_never_ranked(desk):
    desk.submit()
    leased = desk.lease()

    desk.diverge(leased)

    assert desk.trial(0).state is TrialState.DIVERGED
    assert desk.best(10) == []


def test_repeating_a_result_is_harmless_and_changing_it_is_refused(desk):
    desk.submit()
    leased = desk.lease()
    desk.complete(leased, 0.25)
    desk.complete(leased, 0.25)

    for other in (Result(state="succeeded", loss=0.26), Result(state="diverged", diverged="nan")):
        with pytest.raises(ResultDiffers, match="trial 0 of study 's'"):
            desk.end(leased, other)
    assert desk.standing().observations == 1
    assert desk.trial(0).loss == 0.25


def test_a_lease_that_was_never_given_is_refused(desk):
    with pytest.raises(LeaseLost, match="never given"):
        desk.complete(type("Leased", (), {"lease_id": "f" * 32}))


@pytest.mark.row(243)
def test_a_result_under_a_lost_lease_is_refused_and_the_other_attempt_counts(desk, clock):
    desk.submit()
    slow = desk.lease()
    clock.advance(desk.lease_for)
    fast = desk.lease()

    with pytest.raises(LeaseLost, match="given to another attempt"):
        desk.complete(slow, 0.1)
    desk.complete(fast, 0.2)

    assert desk.trial(0).loss == 0.2


@pytest.mark.row(243)
def test_expired_is_not_lost_while_nobody_has_taken_the_trial(desk, clock):
    desk.submit()
    slow = desk.lease()
    clock.advance(desk.lease_for * 10)

    expires_at = desk.beat(slow).expires_at
    assert expires_at > slow.expires_at
    assert desk.lease().number == 1
    desk.complete(slow, 0.1)

    assert desk.trial(0).loss == 0.1


def test_a_heartbeat_keeps_a_trial_from_being_given_away(desk, clock):
    desk.submit(max_trials=1)
    leased = desk.lease()
    for _ in range(5):
        clock.advance(desk.lease_for * 0.9)
        desk.beat(leased)
        assert desk.lease() is None


def test_a_lost_attempt_is_told_so_at_its_next_heartbeat(desk, clock):
    desk.submit()
    slow = desk.lease()
    clock.advance(desk.lease_for)
    desk.lease()

    with pytest.raises(LeaseLost):
        desk.beat(slow, points(1))
    assert desk.trial(0).attempts[0].reports == ()


def test_reports_are_kept_once_however_often_they_are_sent(desk):
    desk.submit()
    leased = desk.lease()
    for steps in ((1, 2), (1, 2), (2, 3), (4,)):
        desk.beat(leased, points(*steps))

    assert list(desk.trial(0).attempts[0].reports) == points(1, 2, 3, 4)


@pytest.mark.row(245)
def test_a_fault_is_tried_again_until_the_attempts_are_used_up(desk):
    desk.submit(max_trials=1, max_attempts=2)
    desk.fail(desk.lease(), message="KeyError: 'lr'")
    second = desk.lease()
    assert second.attempt == 2

    desk.fail(second, message="KeyError: 'lr'")
    desk.fail(second, message="KeyError: 'lr'")

    broken = desk.trial(0)
    assert (broken.state, broken.cause) == (TrialState.FAILED, Cause.ERROR)
    assert [attempt.message for attempt in broken.attempts] == ["KeyError: 'lr'"] * 2
    assert desk.standing().state == "completed"


def test_a_released_attempt_is_not_used_up(desk):
    desk.submit(max_trials=1, max_attempts=1)
    first = desk.lease()

    desk.release(first)
    desk.release(first)

    assert desk.lease().attempt == 2
    with pytest.raises(LeaseLost, match="gave trial 0 back"):
        desk.complete(first)


@pytest.mark.row(7)
@pytest.mark.parametrize(("ending", "known"), [("lost", 0), ("broken", 1), ("diverged", 1), ("released", 0)])
def test_only_what_speaks_of_the_config_enters_the_landscape(desk, clock, ending, known):
    desk.submit(max_attempts=1)
    leased = desk.lease()
    if ending == "lost":
        clock.advance(desk.lease_for)
    elif ending == "broken":
        desk.fail(leased)
    elif ending == "diverged":
        desk.diverge(leased, "inf")
    else:
        desk.release(leased)
    desk.complete(desk.lease(), 1.0)

    assert len(desk.landscape()) == known + 1


@pytest.mark.row(7)
def test_a_trial_that_has_only_reported_so_far_is_not_known(desk):
    desk.submit()
    leased = desk.lease()
    desk.beat(leased, points(1, 2, 3))

    landscape = desk.landscape()

    assert (len(landscape), list(landscape.pending)) == (0, [0])


@pytest.mark.parametrize("verb", ["heartbeat", "complete", "fail", "release"])
def test_a_call_and_its_twin_at_the_same_time_are_both_answered_well(desk, verb):
    desk.submit(max_trials=25, max_attempts=100)
    calls = {
        "heartbeat": lambda leased: desk.beat(leased, points(1, 2)),
        "complete": desk.complete,
        "fail": desk.fail,
        "release": desk.release,
    }
    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            leased = desk.lease()
            list(pool.map(calls[verb], [leased] * 2))

    study = desk.standing()
    assert study.observations == study.succeeded
