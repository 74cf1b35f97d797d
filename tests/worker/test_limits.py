from types import SimpleNamespace

import pytest

from worker import limits
from worker.limits import Limits, Watch


@pytest.fixture
def now(monkeypatch):
    """A clock that the test moves."""
    clock = [100.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock[0])
    return clock


def a_slot(memory=0, proportional=None):
    each_once = memory if proportional is None else proportional
    return SimpleNamespace(
        memory=lambda: memory, proportional_memory=lambda: each_once, stacks=lambda: "in train"
    )


def watch(slot=None, **known):
    watching = Watch(slot=slot or a_slot(), limits=Limits(**known))
    watching.heard()
    return watching


def test_without_limits_a_training_may_take_all(now):
    watching = watch(a_slot(10**12))
    now[0] += 10**6

    assert watching.fault() is None


def test_a_training_that_takes_too_long_is_ended_with_the_place_where_it_is(now):
    watching = watch(seconds=10.0)
    now[0] += 10
    watching.heard()
    assert watching.fault() is None
    now[0] += 1

    fault = watching.fault()

    assert (fault.kind, fault.traceback) == ("time_limit", "in train")


def test_silence_counts_from_the_last_word(now):
    watching = watch(silence_seconds=10.0)
    now[0] += 9
    watching.heard()
    now[0] += 9
    assert watching.fault() is None
    now[0] += 2

    assert watching.fault().kind == "stalled"


def test_the_start_of_the_process_is_not_the_trainings_time_but_has_an_end(now):
    watching = Watch(slot=a_slot(), limits=Limits(seconds=1.0, silence_seconds=1.0), ordered_at=now[0])
    now[0] += 200
    assert watching.fault() is None
    now[0] += 101

    assert watching.fault().message == "The training process did not start."


@pytest.mark.parametrize(
    ("slot", "kind"),
    [
        (a_slot(2_000_000_000), None),
        (a_slot(2_000_000_001), "out_of_memory"),
        (a_slot(3_000_000_000, proportional=1_000_000_000), None),  # shared pages are counted once
    ],
)
def test_memory_is_limited_in_units_of_a_thousand_million_bytes(slot, kind):
    fault = watch(slot, memory_gb=2.0).fault()

    assert (fault and fault.kind) == kind
