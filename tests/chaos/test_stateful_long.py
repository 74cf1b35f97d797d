"""Any call in any order, as in tests/end_to_end, for some minutes on each database."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine import Life, Rig

LONG = settings(
    max_examples=300,
    stateful_step_count=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def rig(database, monkeypatch):
    running = Rig(database, monkeypatch)
    yield running
    running.close()


def test_whatever_is_called_for_long_every_promise_holds(rig):
    run_state_machine_as_test(lambda: Life(rig), settings=LONG)
