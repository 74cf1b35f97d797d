"""The clock of the database is set forward or back while trials run."""

import asyncio
from datetime import timedelta

import pytest

from app.domain.trial import Slot, TrialState
from app.lifecycle.hearing import Hearing
from app.storage import clock as clocks
from app.storage.check import faults

HOUR = timedelta(hours=1)


@pytest.fixture
def machine(monkeypatch):
    """The milliseconds of the database's machine, as the test sets them."""
    shown = {"now": 10**12}
    monkeypatch.setattr(clocks, "of_machine", lambda _: shown["now"])
    return shown


def looked(hearing):
    """Let the server look at the clock; return until when it lets leases be."""

    async def both():
        await hearing.look()
        return await hearing.deaf_until()

    return asyncio.run(both())


@pytest.mark.parametrize("leap", [HOUR, -HOUR], ids=["forward", "back"])
def test_after_a_leap_of_the_clock_the_workers_may_speak_up_before_anything_expires(
    desk, clock, machine, leap
):
    desk.submit(max_trials=1, max_attempts=1)
    leased = desk.lease()
    hearing = Hearing(desk.store, desk.lease_for)
    looked(hearing)

    clock.advance(leap)
    machine["now"] += leap / timedelta(milliseconds=1)
    desk.expire(deaf_until=looked(hearing))

    assert desk.trial(0).state is TrialState.RUNNING
    clock.advance(desk.lease_for - timedelta(seconds=1))
    desk.expire(deaf_until=looked(hearing))
    desk.complete(leased)
    assert desk.trial(0).state is TrialState.SUCCEEDED


def test_a_worker_that_says_nothing_after_the_leap_loses_its_trial(desk, clock, machine):
    desk.submit(max_trials=1, max_attempts=1)
    desk.lease()
    hearing = Hearing(desk.store, desk.lease_for)
    looked(hearing)
    clock.advance(HOUR)
    machine["now"] += HOUR / timedelta(milliseconds=1)
    looked(hearing)

    clock.advance(desk.lease_for + timedelta(seconds=1))
    desk.expire(deaf_until=looked(hearing))

    assert desk.trial(0).state is TrialState.FAILED


@pytest.mark.parametrize("seconds", [1, 4.5, 9.5])
def test_looks_that_come_a_little_late_are_no_leap(desk, machine, seconds):
    hearing = Hearing(desk.store, timedelta(seconds=30))
    before = looked(hearing)

    for _ in range(5):
        machine["now"] += seconds * 1000

        assert looked(hearing) == before


def test_of_a_clock_that_is_set_back_no_time_comes_out_that_is_less_than_none(desk, clock, database):
    desk.submit(max_trials=2, max_gpu_hours=5.0, max_seconds=100.0)
    gpus = desk.runner(slot=Slot(name="cuda:0", gpus=1))
    first = desk.lease(gpus)

    clock.advance(-HOUR)

    assert desk.progress().gpu_hours == 0.0
    desk.complete(first)
    assert (desk.progress().gpu_hours, desk.standing().trained) == (0.0, timedelta())
    desk.complete(desk.lease())
    assert desk.standing().state == "completed"
    assert faults(database) == []
