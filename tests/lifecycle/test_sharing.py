"""Who is given what, when several studies share the workers."""

from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import update

from app.domain.errors import WorkerUnknown
from app.domain.study import Requires
from app.domain.trial import Slot, TrialState
from app.lifecycle.register import drain, register
from app.storage.tables import projects
from tests.lifecycle.conftest import WIM


def registered(desk, name="w", incarnation="i", labels=None, **versions):
    tasks = [
        {"name": task, "version": version, "description": "", "schema": {}, "spaces": {}}
        for task, version in (versions or {"t": None}).items()
    ]
    told = {"incarnation": incarnation, "slots": [], "labels": labels or {}, "tasks": tasks}
    desk.store.write(lambda tx: register(tx, name, WIM, **told))


@pytest.mark.row(249)
def test_studies_get_as_many_leases_as_their_priorities_say_and_none_starves(desk):
    for name, priority in (("low", 1), ("middle", 10), ("high", 30)):
        desk.submit(name=name, priority=priority, max_trials=1000, strategy="random")

    given = Counter(desk.lease(expires=False).study for _ in range(164))

    assert given["low"] in {3, 4, 5}
    assert abs(given["high"] - 3 * given["middle"]) <= 4


def test_a_study_that_was_idle_for_long_does_not_hold_up_the_others_when_it_comes_back(desk):
    desk.submit(name="idle", max_trials=1000, strategy="random")
    desk.change("idle", state="paused")
    desk.submit(name="busy", max_trials=1000, strategy="random")
    for _ in range(60):
        desk.lease(expires=False)
    desk.change("idle", state="active")

    given = Counter(desk.lease(expires=False).study for _ in range(40))

    assert given["busy"] >= 12  # at most one unit of ten leases is made up for


@pytest.mark.row(249)
@pytest.mark.parametrize(
    ("requires", "slot", "labels", "fits"),
    [
        (Requires(gpus=2), Slot(name="cuda:0", gpus=1, gpu_memory_gb=80.0), {}, False),
        (Requires(gpus=1, gpu_memory_gb=40.0), Slot(name="cuda:0", gpus=1, gpu_memory_gb=24.0), {}, False),
        (Requires(gpus=1, gpu_memory_gb=24.0), Slot(name="cuda:0", gpus=1, gpu_memory_gb=24.0), {}, True),
        (Requires(labels={"pool": "a"}), Slot(name="cpu"), {"pool": "b"}, False),
        (Requires(labels={"pool": "a"}), Slot(name="cpu"), {"pool": "a", "rack": "3"}, True),
    ],
)
def test_only_a_slot_with_what_a_study_requires_gets_its_trials(desk, requires, slot, labels, fits):
    registered(desk, labels=labels)
    desk.submit(requires=requires)

    assert bool(desk.lease(desk.runner(slot=slot))) is fits


def test_a_study_is_held_to_the_first_version_of_its_task_unless_it_allows_others(desk):
    registered(desk, name="old", t="1")
    registered(desk, name="new", t="2")
    desk.submit(name="strict")
    desk.submit(name="lax", allow_versions=True)

    def lease(worker, study):
        return desk.lease(desk.runner(worker=worker), studies=[study])

    assert [bool(lease(worker, "strict")) for worker in ("old", "new", "old")] == [True, False, True]
    assert [bool(lease(worker, "lax")) for worker in ("old", "new")] == [True, True]
    assert desk.progress("strict").study.task_version == "1"
    assert desk.trial(name="strict").attempts[0].task_version == "1"


def test_a_worker_that_names_no_tasks_gets_those_it_has_registered_in_this_start(desk):
    desk.submit()
    with pytest.raises(WorkerUnknown, match="PUT /api/v1/workers/w"):
        desk.lease(tasks=None)
    registered(desk, incarnation="before")
    with pytest.raises(WorkerUnknown):
        desk.lease(tasks=None)

    registered(desk)

    assert desk.lease(tasks=None).number == 0


def test_a_drained_worker_gets_nothing_until_it_starts_again(desk):
    registered(desk)
    desk.submit()
    desk.store.write(lambda tx: drain(tx, "w", is_draining=True))

    assert desk.lease() is None
    registered(desk, incarnation="j")
    assert desk.lease(desk.runner(incarnation="j")) is not None


@pytest.mark.row(249)
def test_a_project_never_runs_more_than_its_quota(desk):
    desk.store.write(lambda tx: tx.execute(update(projects).values(max_running=3)).rowcount)
    for name in ("a", "b"):
        desk.submit(name=name)

    leases = [desk.lease() for _ in range(5)]

    assert [bool(leased) for leased in leases] == [True, True, True, False, False]
    desk.complete(leases[0])
    assert desk.lease() is not None


@pytest.mark.parametrize("state", ["paused", "stopped"])
def test_a_trial_whose_worker_is_gone_holds_nothing_of_the_quota_while_its_study_rests(desk, clock, state):
    desk.store.write(lambda tx: tx.execute(update(projects).values(max_running=1)).rowcount)
    for name in ("resting", "other"):
        desk.submit(name=name, max_gpu_hours=1.0)
    gone = desk.lease(desk.runner(slot=Slot(name="cuda:0", gpus=1)), studies=["resting"])
    desk.change("resting", state=state)
    assert desk.lease(studies=["other"], expires=False) is None

    clock.advance(desk.lease_for)
    desk.expire()

    assert desk.lease(studies=["other"], expires=False) is not None
    clock.advance(timedelta(hours=2))
    assert desk.progress("resting").gpu_hours < 0.1
    assert desk.trial(0, "resting").state is TrialState.QUEUED
    desk.complete(gone)  # it was not gone
    assert desk.trial(0, "resting").state is TrialState.SUCCEEDED


def test_several_are_leased_at_once_and_the_same_request_gets_the_same_ones(desk):
    desk.submit(max_trials=5)
    runner = desk.runner()

    leases = desk.leases(runner, most=3)

    assert [leased.number for leased in leases] == [0, 1, 2]
    assert desk.leases(runner, most=3) == leases
    assert len(desk.leases(most=9)) == 2


def test_a_lease_lasts_as_long_as_was_asked_also_after_a_heartbeat(desk, clock):
    desk.submit(max_trials=1)
    slow = desk.lease(lease_for=timedelta(days=3))
    clock.advance(timedelta(days=2))
    desk.beat(slow)
    clock.advance(timedelta(days=2))

    assert desk.lease() is None
    desk.complete(slow)
