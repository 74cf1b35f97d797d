from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from app.domain.study import Spec
from app.domain.trial import Result, Runner
from app.lifecycle.lease import Wish, lease
from app.lifecycle.propose import known_landscape
from app.lifecycle.report import complete
from app.lifecycle.submit import progress, submit
from thiessen.integrations import KNOWN
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.space import Float, Space

LEASE = timedelta(seconds=30)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_requests = count()


def a_spec(**changed):
    values = {
        "name": "s", "task": "t", "space": Space(x=Float(0.0, 1.0)), "strategy": "biased_random", "seed": 1,
        "max_trials": 5, "max_attempts": 2,
    }  # fmt: skip
    values |= changed
    return Spec(**values | {"strategy": strategy_to_json(strategy_from_json(values["strategy"], KNOWN))})


def a_runner(**changed):
    values = {
        "worker": "w", "incarnation": "i", "request_id": f"r{next(_requests)}",
        "device": "cpu", "environment": {},
    }  # fmt: skip
    return Runner(**values | changed)


class Desk:
    """The steps of a trial's life on one store, with everything but the point of the test filled in."""

    def __init__(self, store) -> None:
        self.store = store

    def submit(self, **changed):
        return submit(self.store, a_spec(**changed))[0].study

    def lease(self, runner=None, tasks=("t",), studies=None, deaf_until=LONG_AGO):
        wish = Wish(tasks=tasks, studies=studies, lease_for=LEASE, deaf_until=deaf_until)
        return lease(self.store, runner or a_runner(), wish)

    def complete(self, leased, loss=0.5):
        complete(self.store, leased.lease_id, Result(loss=loss))

    def landscape(self):
        study = progress(self.store, "s").study
        return self.store.read(lambda tx: known_landscape(tx, study))

    runner = staticmethod(a_runner)
    spec = staticmethod(a_spec)
    lease_for = LEASE


@pytest.fixture
def desk(store):
    return Desk(store)
