"""Any call in any order, on both databases; tests/chaos has the same for longer."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine import Life, Rig

SHORT = settings(
    max_examples=30,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def rig(database, monkeypatch):
    running = Rig(database, monkeypatch)
    yield running
    running.close()


@pytest.mark.row(242)
def test_whatever_is_called_in_whatever_order_every_promise_holds(rig):
    run_state_machine_as_test(lambda: Life(rig), settings=SHORT)
