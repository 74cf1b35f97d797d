from datetime import timedelta

import pytest

from app.domain.errors import InvalidRequest, StudyEnded, StudyExists
from app.domain.trial import Result, Slot, TrialState
from app.lifecycle.enqueue import Candidate
from app.lifecycle.report import Order
from app.storage import clock as stored_clock


def imported(x, loss):
    return Candidate(config={"x": x}, result=Result(state=TrialState.SUCCEEDED, loss=loss))


@pytest.mark.row(247)
def test_at_its_target_a_study_lets_running_trials_finish_and_begins_nothing(desk):
    desk.submit(target=0.2, max_trials=9)
    desk.enqueue({"x": 0.5}, {"x": 0.6}, {"x": 0.7})
    first, second = desk.lease(), desk.lease()
    desk.complete(first, 0.1)

    assert desk.lease() is None
    assert desk.beat(second).order is Order.CONTINUE
    desk.complete(second, 0.9)

    standing = desk.standing()
    assert (standing.state, standing.reason, standing.queued) == ("completed", "target", 1)


@pytest.mark.row(247)
def test_at_its_deadline_running_trials_are_told_to_stop_and_it_completes_when_they_have(desk, clock, store):
    deadline = store.read(stored_clock.read) + timedelta(hours=1)
    desk.submit(deadline=deadline)
    leased = desk.lease()
    clock.advance(timedelta(hours=2))
    desk.beat(leased)
    desk.expire()

    told = desk.beat(leased)
    assert (told.order, told.reason) == (Order.STOP, "The study ended: deadline.")
    desk.release(leased)

    assert desk.lease() is None
    assert (desk.standing().state, desk.standing().reason) == ("completed", "deadline")
    desk.change(deadline=None)
    assert desk.lease().attempt == 2


@pytest.mark.row(247)
def test_gpu_hours_are_those_of_all_attempts_together(desk, clock):
    desk.submit(max_gpu_hours=3.0, max_trials=9)
    gpus = Slot(name="cuda:0,cuda:1", gpus=2)
    first = desk.lease(desk.runner(slot=gpus), lease_for=timedelta(days=1))
    clock.advance(timedelta(hours=1))
    assert desk.progress().gpu_hours == pytest.approx(2.0, abs=0.01)
    desk.complete(first)
    clock.advance(timedelta(hours=5))
    assert desk.progress().gpu_hours == pytest.approx(2.0, abs=0.01)

    second = desk.lease(desk.runner(slot=gpus), lease_for=timedelta(days=1))
    clock.advance(timedelta(minutes=31))
    desk.expire()

    assert desk.beat(second).order is Order.STOP
    assert desk.lease() is None


def test_no_more_than_max_running_train_at_once(desk):
    desk.submit(max_running=2)
    leases = [desk.lease() for _ in range(3)]

    assert [bool(leased) for leased in leases] == [True, True, False]
    desk.complete(leases[0])
    assert desk.lease() is not None


@pytest.mark.row(248)
def test_imported_trials_teach_and_are_not_counted(desk):
    desk.submit(max_trials=2)
    desk.enqueue(imported(0.1, 0.5), imported(0.2, 0.4))

    assert len(desk.landscape()) == 2
    assert [bool(desk.lease()) for _ in range(3)] == [True, True, False]
    with pytest.raises(StudyEnded, match="has used up its budget of 2 trials"):
        desk.enqueue({"x": 0.9})


@pytest.mark.row(248)
def test_enqueued_configs_come_first_and_the_same_list_again_adds_nothing(desk):
    desk.submit()
    added = desk.enqueue({"x": 0.25}, {"x": 0.75})

    again = desk.enqueue({"x": 0.25}, {"x": 0.75})

    assert [(each.number, each.is_new) for each in (*added, *again)] == [
        (0, True), (1, True), (0, False), (1, False),
    ]  # fmt: skip
    assert [desk.lease().config["x"] for _ in range(2)] == [0.25, 0.75]
    assert desk.lease().number == 2
    assert desk.trial(2).turn == 0


def test_a_result_imported_for_a_config_that_waits_or_has_failed_is_that_trials_result(desk):
    desk.submit(max_attempts=1, max_trials=4)
    desk.enqueue({"x": 0.1}, {"x": 0.2}, {"x": 0.3}, {"x": 0.4})
    desk.fail(desk.lease())
    running, ended = desk.lease(), desk.lease()
    desk.complete(ended, 0.3)

    results = [imported(x, loss=7.0) for x in (0.1, 0.2, 0.3, 0.4)]
    added = desk.enqueue(*results)

    assert [(each.number, each.state, each.is_new) for each in added] == [
        (0, "succeeded", False), (1, "running", False), (2, "succeeded", False), (3, "succeeded", False),
    ]  # fmt: skip
    assert [desk.trial(number).loss for number in range(4)] == [7.0, None, 0.3, 7.0]
    assert [desk.trial(number).origin for number in range(4)] == ["enqueued"] * 4
    assert len(desk.landscape()) == 3
    desk.complete(running, 0.2)
    assert desk.enqueue(*results)[1].state == "succeeded"
    assert (desk.standing().state, desk.standing().imported, desk.standing().trials) == ("completed", 0, 4)


def test_a_config_outside_the_space_is_refused_with_its_place_and_nothing_is_added(desk):
    desk.submit()
    with pytest.raises(InvalidRequest, match=r"trials\.1\.config: .*x"):
        desk.enqueue({"x": 0.5}, {"x": 7.0})

    assert desk.standing().trials == 0


@pytest.mark.row(248)
def test_a_repeat_may_train_again_or_be_given_the_known_result(desk):
    desk.submit(name="allow", duplicates="allow")
    desk.submit(name="memoise", duplicates="memoise")
    for name in ("allow", "memoise"):
        desk.enqueue({"x": 0.5}, name=name)
        desk.complete(desk.lease(studies=[name]), 0.25)

    [allowed] = desk.enqueue({"x": 0.5}, name="allow")
    [known] = desk.enqueue({"x": 0.5}, name="memoise")

    assert (allowed.number, allowed.state) == (1, TrialState.QUEUED)
    assert (known.number, known.state, desk.trial(1, "memoise").loss) == (1, TrialState.SUCCEEDED, 0.25)
    assert desk.trial(1, "memoise").origin == "memoised"


def test_a_paused_study_lets_its_trials_finish_and_a_stopped_one_has_them_given_back(desk):
    desk.submit()
    leased = desk.lease()
    desk.change(state="paused")
    assert desk.lease() is None
    assert desk.beat(leased).order is Order.CONTINUE

    desk.change(state="stopped")
    assert desk.beat(leased).order is Order.STOP
    desk.release(leased)

    desk.change(state="active")
    assert (desk.lease().number, desk.trial().attempts[1].number) == (0, 2)


@pytest.mark.row(247)
def test_a_completed_study_goes_on_when_its_budget_is_extended_and_not_without(desk):
    desk.submit(max_trials=1)
    desk.complete(desk.lease())
    with pytest.raises(StudyEnded, match="extend its budget to go on"):
        desk.change(state="active")
    with pytest.raises(InvalidRequest, match="1 trials are numbered already"):
        desk.change(max_trials=0)

    desk.change(max_trials=2)

    assert (desk.standing().state, desk.standing().reason) == ("active", None)
    assert desk.lease().number == 1


def test_a_study_whose_budget_was_changed_is_found_by_what_was_submitted_first(desk):
    first = desk.submit(max_trials=1)
    desk.change(max_trials=7)

    assert desk.submit(max_trials=1).id == first.id
    with pytest.raises(StudyExists, match="max_trials"):
        desk.submit(max_trials=7)
