"""What trials spend is counted with their study, and ends it."""

from datetime import timedelta

import pytest

from app.lifecycle.report import Order


def beat(desk, leased, last):
    return desk.beat(leased, [{"step": last, "metrics": {"loss": 0.5}}])


def test_a_study_has_spent_the_last_steps_of_its_trials_whatever_they_came_to(desk):
    desk.submit(max_attempts=1)
    for last, end in ((10, desk.complete), (7, desk.diverge), (5, desk.fail)):
        leased = desk.lease()
        beat(desk, leased, last)
        end(leased)
    desk.complete(desk.lease())  # it reported nothing

    assert desk.standing().updates == 22


@pytest.mark.row(14)
def test_nothing_begins_when_the_updates_are_used_up_and_what_runs_finishes(desk):
    desk.submit(max_updates=20, max_trials=9)
    first, second = desk.lease(), desk.lease()
    beat(desk, first, 25)
    desk.complete(first)

    assert desk.lease() is None
    assert beat(desk, second, 30).order is Order.CONTINUE
    desk.complete(second)

    standing = desk.standing()
    assert (standing.state, standing.reason, standing.updates) == ("completed", "max_updates", 55)


@pytest.mark.row(15)
def test_nothing_begins_when_the_seconds_are_used_up_and_more_of_them_reopen_the_study(desk, clock):
    desk.submit(max_seconds=100.0, max_trials=9)
    for _ in range(2):
        leased = desk.lease(lease_for=timedelta(hours=1))
        clock.advance(timedelta(seconds=60))
        desk.complete(leased)

    assert desk.lease() is None
    assert (desk.standing().state, desk.standing().reason) == ("completed", "max_seconds")
    assert desk.standing().trained.total_seconds() == pytest.approx(120, abs=5)
    desk.change(max_seconds=500.0)
    assert desk.lease() is not None


def test_of_a_trial_that_is_tried_again_the_last_attempt_counts(desk, clock):
    desk.submit(max_attempts=2)
    lost = desk.lease(lease_for=timedelta(seconds=30))
    beat(desk, lost, 50)
    clock.advance(timedelta(minutes=5))
    again = desk.lease()
    beat(desk, again, 8)
    clock.advance(timedelta(seconds=10))
    desk.complete(again)

    assert (again.attempt, desk.standing().updates) == (2, 8)
    assert desk.standing().trained.total_seconds() == pytest.approx(10, abs=5)


def test_queued_trials_stay_where_they_are_when_the_updates_are_used_up(desk):
    desk.submit(max_updates=5, max_trials=3)
    desk.enqueue({"x": 0.1}, {"x": 0.2}, {"x": 0.3})
    leased = desk.lease()
    beat(desk, leased, 5)
    desk.complete(leased)

    assert desk.lease() is None
    assert (desk.standing().state, desk.standing().queued) == ("completed", 2)
    desk.change(max_updates=None)
    assert desk.lease().number == 1


def test_a_result_that_comes_late_is_counted_once(desk, clock):
    desk.submit(max_attempts=1)
    silent = desk.lease()
    beat(desk, silent, 40)
    clock.advance(timedelta(minutes=5))
    desk.expire()
    assert desk.standing().updates == 40

    desk.complete(silent, 0.2)

    assert (desk.standing().succeeded, desk.standing().updates) == (1, 40)


def test_the_end_of_a_study_is_expected_when_its_seconds_are_used_up(desk, clock):
    desk.submit(max_seconds=100.0, max_trials=1000)
    for _ in range(2):
        leased = desk.lease(lease_for=timedelta(hours=1))
        clock.advance(timedelta(seconds=10))
        desk.complete(leased)
    desk.lease()

    progress = desk.progress()
    last = max(desk.trial(number).finished_at for number in (0, 1))
    per_trial = 5.0  # two in the 10 s since the first of them finished
    left = 8 + 1  # of 10 s each within what is left, and the one that runs
    assert (progress.eta - last).total_seconds() == pytest.approx(left * per_trial, abs=15)


def test_steps_beyond_all_measure_count_no_more_than_a_study_can_hold(desk):
    desk.submit()
    leased = desk.lease()
    beat(desk, leased, 2**53 - 1)
    desk.complete(leased)

    assert desk.standing().updates == 10**12
