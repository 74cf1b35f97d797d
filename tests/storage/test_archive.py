"""Databases of earlier schemas, in which a bit of everything had happened, go on where they were."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient

from app.lifecycle import replay
from app.lifecycle.recompute import recompute
from app.main import build
from app.settings import Settings
from app.storage import open_store
from app.storage.check import faults
from app.storage.schema import revisions, upgrade
from tests.conftest import BACKENDS, a_database

ARCHIVE = Path(__file__).with_name("archive")
EVERY = sorted(ARCHIVE.glob("*.sql"))


@pytest.fixture(params=EVERY, ids=lambda file: file.stem.replace(".", "-"))
def archived(request, tmp_path):
    """The address of a database as it was left, at an earlier schema."""
    kind = request.param.stem.partition(".")[2]
    with a_database(request, kind, tmp_path) as address:
        if kind == "sqlite":
            with closing(sqlite3.connect(tmp_path / "test.db")) as connection:
                connection.executescript(request.param.read_text())
        else:
            with psycopg.connect(address.replace("+psycopg", "")) as connection:
                connection.execute(request.param.read_text())
        yield address


def bring_up_to_date(address):
    store = open_store(address)
    try:
        upgrade(store)
    finally:
        store.close()


@pytest.fixture
def served(archived):
    bring_up_to_date(archived)
    with TestClient(build(Settings(database=archived)), base_url="http://127.0.0.1") as api:
        yield api


def answer(api, path, method="GET", **asked):
    said = api.request(method, f"/api/v1{path}", **asked)
    assert said.is_success, said.text
    return said.json() if said.content else None


def studies_of(api, project):
    listed = (answer(api, f"/projects/{project}/studies?archived={flag}") for flag in ("false", "true"))
    return [study["name"] for page in listed for study in page["studies"]]


@pytest.mark.parametrize("kind", BACKENDS)
def test_every_schema_has_an_archive(kind):
    wanted = {ARCHIVE / f"{revision}.{kind}.sql" for revision in revisions()}
    assert wanted <= {*EVERY}, "write the newest: see migrations/README.md"


@pytest.mark.row(251)
def test_an_archived_database_holds_what_it_must_when_it_is_up_to_date(archived):
    bring_up_to_date(archived)

    assert faults(archived) == []


async def replayed_here(record):
    """Replay a record in this process: one for each study would take long, and is tested elsewhere."""
    return recompute(json.loads(b"".join([piece async for piece in record])))


@pytest.mark.row(251)
def test_every_study_of_an_archived_database_is_read_with_every_trial_and_replays(served, monkeypatch):
    monkeypatch.setattr(replay, "_replayed", replayed_here)
    for project in (each["name"] for each in answer(served, "/projects")["projects"]):
        for name in studies_of(served, project):
            study = f"/projects/{project}/studies/{name}"
            numbers = [each["trial"] for each in answer(served, f"{study}/trials?limit=1000")["trials"]]
            assert [answer(served, f"{study}/trials/{number}")["trial"] for number in numbers] == numbers
            assert answer(served, f"{study}/replay")["mismatches"] == []


def test_a_program_of_optuna_goes_on_in_an_archived_database(served, archived):
    numbers = {"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 9.0, "log": False}}
    change = {"state": "complete", "values": [0.5]}
    change |= {"params": {"x": {"value": 3.0, "distribution": json.dumps(numbers)}}}
    studies = answer(served, "/optuna/studies")["studies"]
    if not studies:
        studies = [
            answer(served, "/optuna/studies", "POST", json={"name": "theirs", "directions": ["minimize"]})
        ]
    study = f"/optuna/studies/{studies[0]['id']}/trials"
    before = answer(served, study)["trials"]
    [added] = answer(served, study, "POST", json={"trials": [{}]})["trials"]
    answer(served, f"/optuna/trials/{added['id']}", "PATCH", json=change)

    assert [each["number"] for each in answer(served, study)["trials"]][-1] == len(before)
    assert faults(archived) == []


@pytest.mark.row(251)
def test_a_study_of_an_archived_database_goes_on(served, archived):
    before = answer(served, "/studies/search")["counts"]["succeeded"]
    wish = {"worker": "node-1", "incarnation": "monday", "request_id": "later", "tasks": ["train"]}
    [leased] = answer(served, "/leases", "POST", json=wish | {"studies": ["search"]})["leases"]
    answer(served, f"/leases/{leased['lease_id']}/complete", "POST", json={"loss": 0.25})

    assert answer(served, "/studies/search")["counts"]["succeeded"] == before + 1
    assert faults(archived) == []
