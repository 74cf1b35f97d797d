import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

import pytest
from sqlalchemy import select

from app.domain.access import Principal, Scope
from app.domain.study import DEFAULT_PROJECT, Budget, Remarks, Spec, Study
from app.domain.trial import Fault, Result, Runner, Slot, TrialState
from app.lifecycle import change, enqueue, expire, intervene, rank, report, submit
from app.lifecycle.judge import Judge
from app.lifecycle.lease import Wish, lease
from app.lifecycle.memory import Memory, history_of
from app.storage import studies as stored_studies
from app.storage.tables import attempts, events, observations
from thiessen.integrations import KNOWN
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.space import Float, Space

LEASE = timedelta(seconds=30)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
SPEC = {"name": "s", "task": "t", "space": Space(x=Float(0.0, 1.0)), "strategy": "biased_random", "seed": 1,
        "max_attempts": 2}  # fmt: skip
WIM = Principal("wim", frozenset({Scope.WORK}))
_requests = count()


def split(values, kind):
    return {name: value for name, value in values.items() if name in kind.__dataclass_fields__}


def a_spec(**changed):
    values = SPEC | changed
    strategy = strategy_to_json(strategy_from_json(values["strategy"], KNOWN))
    return Spec(**split(values | {"strategy": strategy}, Spec))


def a_budget(**changed):
    return Budget(**split({"max_trials": 5} | changed, Budget))


def a_runner(**changed):
    values = {
        "who": "wim", "worker": "w", "incarnation": "i", "request_id": f"r{next(_requests)}",
        "slot": Slot(name="cpu"), "environment": {},
    }  # fmt: skip
    return Runner(**values | changed)


class Desk:
    """The steps of a trial's life on one store, with everything but the point of the test filled in."""

    def __init__(self, store) -> None:
        self.store = store
        self.memory = Memory()
        self.judge = Judge()

    def submit(self, **changed) -> Study:
        return self.submitted(**changed)[0].study

    def submitted(self, **changed):
        remarks = Remarks(**split(changed, Remarks))
        return self.write(
            submit.submit, spec=a_spec(**changed), budget=a_budget(**changed), remarks=remarks, who="ann"
        )

    def lease(self, runner=None, **wished):
        leases = self.leases(runner, **wished)
        return leases[0] if leases else None

    def leases(self, runner=None, *, expires=True, **wished):
        values = {
            "project": None, "tasks": ("t",), "studies": None, "most": 1,
            "lease_for": LEASE, "deaf_until": LONG_AGO,
        } | wished  # fmt: skip
        if expires:
            self.expire(deaf_until=values["deaf_until"])
        return asyncio.run(lease(self.store, self.memory, runner or a_runner(), Wish(**values)))

    def expire(self, deaf_until=LONG_AGO):
        expire.expire(self.store, deaf_until)

    def complete(self, leased, loss=0.5):
        self.end(leased, Result(state=TrialState.SUCCEEDED, loss=loss))

    def diverge(self, leased, how="nan"):
        self.end(leased, Result(state=TrialState.DIVERGED, diverged=how))

    def prune(self, leased, value=None):
        self.end(leased, Result(state=TrialState.PRUNED, value=value))

    def end(self, leased, result):
        asyncio.run(report.complete(self.store, leased.lease_id, result, WIM))

    def fail(self, leased, cause="error", message="boom", **how):
        asyncio.run(report.fail(self.store, leased.lease_id, Fault(cause=cause, message=message, **how), WIM))

    def release(self, leased):
        asyncio.run(report.release(self.store, leased.lease_id, WIM))

    def beat(self, leased, points=(), log_tail=None):
        return asyncio.run(
            report.heartbeat(self.store, self.judge, leased.lease_id, WIM, list(points), log_tail)
        )

    def change(self, name="s", **changes):
        self.write(change.change, name=name, changes=changes, who="ann")

    def enqueue(self, *configs, name="s"):
        sent = [
            each if isinstance(each, enqueue.Candidate) else enqueue.Candidate(config=each)
            for each in configs
        ]
        return self.write(enqueue.enqueue, name=name, sent=sent, who="ann")

    def cancel(self, number, name="s"):
        self.write(intervene.cancel, name=name, number=number, who="ann")

    def retry(self, number, name="s"):
        self.write(intervene.retry, name=name, number=number, who="ann")

    def trial(self, number=0, name="s"):
        return self.read(submit.trial, name=name, number=number)

    def progress(self, name="s"):
        return self.read(submit.progress, name=name)

    def standing(self, name="s"):
        return self.progress(name).study.standing

    def best(self, top=10, name="s"):
        return self.read(rank.best, name=name, top=top)

    def landscape(self):
        study = self.store.read(lambda tx: stored_studies.named(tx, DEFAULT_PROJECT, "s"))
        return history_of(self.store.read, study).landscape

    def rows(self, table):
        return self.store.read(lambda tx: tx.execute(select(table).order_by(*table.primary_key)).all())

    def events(self):
        return self.rows(events)

    def observations(self):
        return self.rows(observations)

    def attempts(self):
        return self.rows(attempts)

    def write(self, step, **given):
        return self.store.write(partial(step, project=DEFAULT_PROJECT, **given))

    def read(self, step, **given):
        return self.store.read(partial(step, project=DEFAULT_PROJECT, **given))

    runner = staticmethod(a_runner)
    spec = staticmethod(a_spec)
    lease_for = LEASE


@pytest.fixture
def desk(store):
    return Desk(store)
