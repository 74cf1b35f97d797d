import math
import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

from app.storage import DatabaseUnavailable
from app.storage.tables import studies
from thiessen.version import __version__

STUDY = {"space": {"x": {"type": "float", "low": 0, "high": 1}}, "strategy": "random"}


def read(api):
    """Return every sample of a scrape by its name and labels."""
    answer = api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


@pytest.fixture
def risen(api):
    """Says by how much samples have risen since the test began: the meters are those of the whole process."""
    before = read(api)
    return lambda *key: read(api).get(key, 0) - before.get(key, 0)


@pytest.mark.row(260)
def test_a_study_of_one_result_and_one_failure_is_counted(caller, risen):
    caller.create(**STUDY, max_trials=2, max_attempts=2)
    first, second = caller.leased(), caller.leased()
    caller.end(first, "heartbeat", reports=[{"step": step, "metrics": {"a": 1}} for step in (1, 2)])
    caller.end(first, loss=0.5)
    caller.end(second, "fail", kind="error", message="m", traceback="t")
    caller.end(caller.leased(), "fail", kind="error", message="m", traceback="t")

    assert risen("thiessen_leases_total") == 3
    assert risen("thiessen_report_points_total") == 2
    assert risen("thiessen_results_total", "succeeded") == 1
    assert risen("thiessen_results_total", "failed") == 1
    assert risen("thiessen_retries_total", "error") == 1
    assert risen("thiessen_proposal_seconds_count", "random") == 2


def test_what_is_sent_again_is_not_counted_again(caller, risen):
    caller.create(**STUDY, max_trials=2)
    leased = caller.leased(request_id="same")
    caller.lease(request_id="same")
    for _ in range(2):
        caller.end(leased, loss=0.5)

    assert (risen("thiessen_leases_total"), risen("thiessen_results_total", "succeeded")) == (1, 1)


def test_a_refused_result_is_not_counted(caller, risen):
    caller.create(**STUDY)
    leased = caller.leased()
    caller.end(leased, "release")
    caller.end(leased, loss=0.5)

    assert risen("thiessen_results_total", "succeeded") == 0


def test_requests_are_counted_by_their_route(caller, risen):
    caller.create(**STUDY)
    caller.end(caller.leased(), "release")
    caller.api.request("BREW", "/api/v1/nowhere")

    assert risen("thiessen_requests_total", "POST", "/api/v1/leases/{lease_id}/release", "204") == 1
    assert risen("thiessen_request_seconds_count", "POST", "/api/v1/leases/{lease_id}/release") == 1
    assert risen("thiessen_requests_total", "OTHER", "other", "404") == 1


def test_the_queue_is_that_of_the_active_studies_at_the_scrape(api, caller):
    caller.create(**STUDY, max_trials=2)
    caller.end(caller.leased(), "release")
    caller.create(**STUDY, name="other", task="u")
    caller.lease(tasks=["u"])
    api.app.state.house.store.write(
        lambda tx: tx.execute(update(studies).where(studies.c.name == "other").values(state="completed"))
    )

    depth = read(api)

    assert (depth["thiessen_trials", "queued"], depth["thiessen_trials", "running"]) == (1, 0)
    caller.lease()
    depth = read(api)
    assert (depth["thiessen_trials", "queued"], depth["thiessen_trials", "running"]) == (0, 1)


def test_a_study_waits_while_it_has_something_to_train_and_none_of_it_runs(api, caller):
    def waiting():
        return read(api)["thiessen_waiting_studies",]

    assert waiting() == 0
    caller.create(**STUDY, max_trials=1)
    assert waiting() == 1
    leased = caller.leased()
    assert waiting() == 0
    caller.end(leased, "release")
    assert waiting() == 1
    caller.end(caller.leased(), loss=0.5)
    assert waiting() == 0


def test_a_server_without_its_database_still_tells_the_rest(api, monkeypatch):
    def gone(_):
        raise DatabaseUnavailable("The database does not answer: gone.")

    monkeypatch.setattr(api.app.state.house.store, "read", gone)

    samples = read(api)

    assert math.isnan(samples["thiessen_trials", "queued"])
    assert math.isnan(samples["thiessen_waiting_studies",])
    assert samples["process_open_fds",] > 0


def test_the_build_and_the_process_are_told(api):
    samples = read(api)

    assert any(key[0] == "thiessen_build_info" and __version__ in key for key in samples)
    assert samples["process_resident_memory_bytes",] > 0


def test_no_label_holds_a_name_that_a_user_chose(api, caller):
    caller.create(**STUDY, name="chosen", task="chosen-task")
    caller.lease(tasks=["chosen-task"], worker="chosen-worker")
    caller.get("/studies/chosen")

    assert "chosen" not in api.get("/metrics").text


@pytest.mark.row(260)
def test_every_meter_is_documented():
    families = {family.name for family in REGISTRY.collect() if family.name.startswith("thiessen")}
    page = (Path(__file__).parents[2] / "docs/how-to/operate.md").read_text()
    documented = set(re.findall(r"^\| `(thiessen_\w+?)(?:_total|_info)?[`{]", page, re.MULTILINE))

    assert documented == families
