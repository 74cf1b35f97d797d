"""Two transactions at once: the second waits at the study's row, or at the trial's, and neither fails."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import text

from app.domain.access import CONSOLE, Principal, Scope
from app.domain.errors import WorkerOfAnother
from app.domain.trial import Cause, Fault, Result, TrialState
from app.lifecycle import access, change, expire, intervene, register, report
from app.storage import attempts, studies, trials, workers
from app.storage import clock as stored_clock
from tests.conftest import wait_until
from tests.lifecycle.conftest import WIM
from tests.lifecycle.test_report import points

FAULT = Fault(cause=Cause.ERROR, message="boom")


class Meeting:
    """Runs a step that stays open until another one waits for it; counts how often each ran."""

    def __init__(self, store) -> None:
        self.store = store
        self.is_open, self.is_asked = threading.Event(), threading.Event()
        self.runs = []

    def hold(self, tx, begin, end):
        self.runs.append("first")
        begin(tx)
        self.is_open.set()
        assert self.is_asked.wait(30)
        if tx.dialect.name == "postgresql":  # SQLite has one writer: whoever comes second waits for it
            wait_until(lambda: tx.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted")).first())
        end(tx)

    def meet(self, tx, step):
        self.runs.append("second")
        step(tx)

    def hold_while(self, begin, step, end):
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(self.store.write, lambda tx: self.hold(tx, begin, end))
            assert self.is_open.wait(30)
            second = pool.submit(self.store.write, lambda tx: self.meet(tx, step))
            self.is_asked.set()
            first.result(30)
            second.result(30)


def test_observations_are_numbered_in_the_order_of_their_commits(desk):
    desk.submit()
    early, late = desk.lease(), desk.lease()
    result = Result(state=TrialState.SUCCEEDED, loss=0.5)

    def complete(leased):
        return lambda tx: report._complete(tx, leased.lease_id, result, WIM)

    def nothing_is_seen_yet(tx):
        del tx
        assert desk.observations() == []

    Meeting(desk.store).hold_while(complete(late), complete(early), nothing_is_seen_yet)

    assert [(each.seq, each.trial) for each in desk.observations()] == [(1, late.number), (2, early.number)]


def test_of_two_tokens_that_register_one_name_at_once_the_second_is_refused(desk):
    tokens = [Principal(name, frozenset({Scope.WORK})) for name in ("quick", "slow")]
    for token in tokens:
        desk.store.write(
            lambda tx, token=token: access.create(tx, CONSOLE, name=token.name, scopes=token.scopes)
        )
    told = {"incarnation": "i", "slots": [], "labels": {}, "tasks": []}
    quick, slow = (partial(register.register, name="w", who=token, **told) for token in tokens)

    with pytest.raises(WorkerOfAnother, match="another token than 'slow'"):
        Meeting(desk.store).hold_while(quick, slow, lambda _: None)

    assert desk.store.read(workers.every)[0].who == "quick"


def test_a_deadline_that_is_extended_while_it_is_found_to_have_passed_ends_nothing(desk, clock):
    deadline = desk.store.read(stored_clock.read) + timedelta(hours=1)
    study = desk.submit(deadline=deadline)
    clock.advance(timedelta(hours=2))
    [(late, ending)] = desk.store.read(studies.over_time)
    later = {"deadline": deadline + timedelta(hours=9)}

    Meeting(desk.store).hold_while(
        lambda tx: change.change(tx, "default", "s", later, "ann"),
        lambda tx: expire._end_study(tx, late, ending),
        lambda _: None,
    )

    assert (late, ending) == (study.id, "deadline")
    assert (desk.standing().state, desk.standing().reason) == ("active", None)
    assert desk.lease() is not None


def test_a_heartbeat_and_the_end_of_its_trial_never_wait_for_each_other(desk):
    for ending in ("cancel", "release", "fail"):
        desk.submit(name=ending, max_trials=1)
        leased = desk.lease(studies=[ending])
        steps = {
            "cancel": lambda tx, name=ending: intervene.cancel(tx, "default", name, 0, "ann"),
            "release": lambda tx, leased=leased: report._release(tx, leased.lease_id, WIM),
            "fail": lambda tx, leased=leased: report._fail(tx, leased.lease_id, FAULT, WIM),
        }
        meeting = Meeting(desk.store)

        meeting.hold_while(
            lambda tx, leased=leased: trials.renew(tx, leased.lease_id),
            steps[ending],
            lambda tx, leased=leased: attempts.report(tx, leased.lease_id, points(1), None),
        )

        assert meeting.runs == ["first", "second"], "one of them was run again"


def test_who_has_locked_a_study_knows_what_it_counts_without_asking_again(desk):
    desk.submit()
    desk.lease()
    [study] = desk.store.read(lambda tx: tx.execute(text("SELECT id FROM studies")).scalars().all())
    more = {"trials": 1, "turns": 1, "events": 2, "queued": -1, "running": 1, "leases": 1, "gpus_running": 2}

    def step(tx):
        told = studies.count(tx, study, locked=studies.lock(tx, study), **more)
        return told, studies.standing(tx, study), studies.count(tx, study, **more)

    told, stored, asked = desk.store.write(step)
    assert told == stored._replace(gpu_milliseconds=told.gpu_milliseconds)
    assert asked.events == told.events + 2
