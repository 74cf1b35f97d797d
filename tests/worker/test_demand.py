from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.contract import Study
from worker.fleet.demand import active, demand


def a_study(*, queued=0, running=0, succeeded=0, failed=0, **changed):
    counts = {"queued": queued, "running": running, "succeeded": succeeded, "diverged": 0, "failed": failed}
    values = {
        "name": "s", "task": "t", "space": {}, "strategy": {}, "seed": 0, "max_trials": 10, "max_attempts": 3,
        "state": "active", "reason": None, "counts": counts, "best": None, "created_at": datetime.now(UTC),
    }  # fmt: skip
    return Study.model_validate(values | changed)


def test_a_new_study_could_run_its_whole_budget_at_once():
    assert demand([a_study(max_trials=10)]) == 10


def test_what_has_ended_needs_no_slot_and_what_waits_or_runs_does():
    assert demand([a_study(max_trials=10, queued=2, running=3, succeeded=4, failed=1)]) == 5


def test_imported_trials_leave_the_budget_alone():
    assert demand([a_study(max_trials=10, succeeded=4, imported=4)]) == 10


def test_a_study_that_proposes_no_more_wants_slots_only_for_what_is_there():
    assert demand([a_study(max_trials=10, queued=1, running=1, reason="target")]) == 2


def test_a_study_never_wants_more_than_it_may_run_at_once():
    assert demand([a_study(max_trials=10, max_running=3)]) == 3


def test_studies_add_up():
    assert demand([a_study(max_trials=2), a_study(max_trials=5)]) == 7


@given(counts=st.tuples(*[st.integers(0, 50)] * 4), most=st.integers(1, 100), limit=st.integers(1, 20))
def test_the_demand_is_at_least_what_runs_within_the_limit_and_never_beyond_the_budget(counts, most, limit):
    queued, running, succeeded, failed = counts
    study = a_study(
        queued=queued, running=running, succeeded=succeeded, failed=failed, max_trials=most, max_running=limit
    )
    wanted = demand([study])
    assert min(running + queued, limit) <= wanted <= limit
    assert wanted <= max(most - succeeded - failed, running + queued)


@pytest.mark.parametrize(
    ("chosen", "names"),
    [({}, {"a", "b"}), ({"tasks": ["takes"]}, {"a"}), ({"names": ["b"]}, {"b"})],
)
def test_only_active_studies_that_are_meant_count(server, a_study, chosen, names):
    server.create_study(a_study("takes", name="a"))
    server.create_study(a_study("raises", name="b"))
    server.create_study(a_study("takes", name="over"))
    server.delete_study("over")

    assert {study.name for study in active(server, **chosen)} == names
