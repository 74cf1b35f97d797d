"""Database, servers, workers: each is brought up to date while the others work, and nobody notices."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psycopg
import pytest

from app.storage import open_store
from app.storage.schema import must_fit, revisions
from tests.chaos import ledger_worker
from tests.chaos.verdict import Verdict
from tests.conftest import wait_until
from tests.release import versions
from tests.release.front import Front
from thiessen.client import Client

ARCHIVE = Path(__file__).parents[1] / "storage" / "archive"
CHEAP_TASK = Path(__file__).parents[1] / "chaos" / "cheap_task"
LEASE_SECONDS = 2.0
MORE = 5  # results that come between two steps of the upgrade
STRETCH = 40  # trials by which a study is extended when it is about to end before the upgrade does
SPACE = {
    "x": {"type": "float", "low": 0.0, "high": 1.0},
    "kind": {"type": "categorical", "choices": ["a", "b"]},
}
STUDIES = {"near": {"strategy": "biased_random"}, "far": {"strategy": "quasi_random"}}
ENDED = ("succeeded", "diverged", "pruned", "failed", "cancelled")


class House:
    """Two servers behind one address, and four workers: two that keep ledgers, two daemons that do both."""

    def __init__(self, folder, database):
        self.folder, self.database = folder, database
        self.stop = folder / "stop"
        self.servers, self.workers, self.started = {}, {}, []
        self.front = Front([])

    def start(self, tree, name, *command):
        """Start a process of the version in a folder; its log goes on where it ended."""
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", *map(str, command)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tree), str(CHEAP_TASK), *sys.path]),
                                  "THIESSEN_LEASE_SECONDS": str(LEASE_SECONDS), "THIESSEN_THREADS": "1",
                                  "THIESSEN_LOG_LEVEL": "warning", "THIESSEN_DATABASE": self.database,
                                  "XDG_STATE_HOME": str(self.folder / "state")},
            )  # fmt: skip
        self.started.append(process)
        return process

    def log(self, name):
        return self.folder / f"{name}.log"

    def serve(self, tree, number):
        """Start a server, send callers to it, and return once it answers."""
        name = f"server-{number}"
        said = self.log(name).stat().st_size if self.log(name).exists() else 0
        process = self.start(tree, name, "-m", "thiessen.cli", "serve", "--port", "0")
        wait_until(lambda: b"Serving at" in self.log(name).read_bytes()[said:] or process.poll() is not None)
        told = self.log(name).read_text()[said:]
        assert "Serving at" in told, told
        port = int(told.split("Serving at ")[1].split()[0].rsplit(":", 1)[1])
        with Client(f"http://127.0.0.1:{port}") as client:
            wait_until(client.is_ready)
        self.servers[number] = process, port
        self.front.ports.append(port)

    def retire(self, number):
        """Ask a server to stop, as it is done before it is replaced."""
        process, port = self.servers.pop(number)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, self.log(f"server-{number}").read_text()
        self.front.ports.remove(port)

    def work(self, tree, name):
        ledger = self.folder / f"{name}.ledger"
        if name.startswith("daemon"):
            spool = self.folder / f"{name}.spool"
            command = ("-m", "tests.chaos.daemon", name, ledger, spool, "3", self.front.port)
        else:
            command = (
                "-m",
                "tests.chaos.ledger_worker",
                name,
                ledger,
                self.stop,
                LEASE_SECONDS,
                self.front.port,
            )
        self.workers[name] = self.start(tree, name, *command)

    def replace(self, tree, name):
        """A daemon gives back what it trains and ends; one with a ledger goes on where that ends."""
        process = self.workers[name]
        if name.startswith("daemon"):
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, self.log(name).read_text()
        else:
            process.kill()
            process.wait()
        self.work(tree, name)

    def ask(self, method, path, body=None):
        """Return what somebody answers: asked again, as every client does, when a connection is cut off."""
        for _ in range(100):
            try:
                answer = httpx.request(method, f"{self.front.url}/api/v1{path}", json=body, timeout=30)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                assert answer.is_success, answer.text
                return answer.json()
            time.sleep(0.1)
        raise AssertionError(f"nobody answers {method} {path}")

    def results(self):
        """Return how many trials have ended; a study that is about to end goes on."""
        number = 0
        for name in STUDIES:
            study = self.ask("GET", f"/studies/{name}")
            ended = sum(study["counts"][state] for state in ENDED)
            if study["max_trials"] - ended < STRETCH / 2 and not self.stop.exists():
                self.ask("PATCH", f"/studies/{name}", {"max_trials": study["max_trials"] + STRETCH})
            number += ended
        return number

    def go_on(self):
        """Wait until the workers have ended some more trials, and see that nobody has died of anything."""
        enough = self.results() + MORE
        wait_until(lambda: self.results() >= enough, seconds=120)
        dead = [name for name, process in self.workers.items() if process.poll() is not None]
        assert not dead, self.log(dead[0]).read_text()

    def finish(self):
        wait_until(self.is_finished, seconds=200)
        self.stop.touch()
        for name, process in self.workers.items():
            assert process.wait(60) == 0, self.log(name).read_text()

    def is_finished(self):
        return all(self.ask("GET", f"/studies/{name}")["state"] == "completed" for name in STUDIES)

    def close(self):
        self.front.close()
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def versions_of(tmp_path):
    """Returns the folders of two versions that follow each other, and the schema that the first one knows."""

    def folders(which):
        if which == "from the version before":
            return versions.before(tmp_path / "old"), versions.HOUSE, revisions()[-2]
        return versions.HOUSE, versions.after(tmp_path / "new"), revisions()[-1]

    return folders


@pytest.fixture
def house(tmp_path, postgres):
    database = postgres.new_database()
    opened = House(tmp_path, database.replace("+psycopg", ""))
    yield opened
    opened.close()
    postgres.drop(database)


@pytest.mark.timeout(390)
@pytest.mark.parametrize("which", ["from the version before", "to a version after"])
def test_an_upgrade_under_load_stops_nobody_loses_nothing_and_counts_nothing_twice(which, versions_of, house):
    old, new, schema = versions_of(which)
    with psycopg.connect(house.database) as connection:
        connection.execute((ARCHIVE / f"{schema}.postgresql.sql").read_text())
    for number in range(2):
        house.serve(old, number)
    for name, special in STUDIES.items():
        house.ask("POST", "/studies", {"name": name, "task": "chaos", "space": SPACE, "max_attempts": 100,
                                       "max_trials": STRETCH, "allow_versions": True, **special})  # fmt: skip
    for name in ("worker-0", "worker-1", "daemon-0", "daemon-1"):
        house.work(old, name)
    house.go_on()

    upgrading = house.start(new, "upgrade", "-m", "thiessen.cli", "db", "upgrade")
    assert upgrading.wait(60) == 0, house.log("upgrade").read_text()
    house.go_on()
    if new != versions.HOUSE:  # a server of before may even be started anew
        house.retire(0)
        house.serve(old, 0)
        house.go_on()
    for number in range(2):
        house.retire(number)
        house.go_on()
        house.serve(new, number)
        house.go_on()
    for name in [*house.workers]:
        house.replace(new, name)
    house.go_on()
    house.finish()

    ledgers = {path.stem: ledger_worker.read(path) for path in house.folder.glob("*.ledger")}
    verdict = Verdict(house.database, ledgers, set(), names={*STUDIES})
    assert not verdict.contradictions, "\n".join(verdict.contradictions)
    assert verdict.counts["results of daemons"] > 0
    store = open_store(house.database)
    assert store.read(must_fit) == (versions.MADE_UP if new != versions.HOUSE else revisions()[-1])
    store.close()
    for name in ("server-0", "server-1"):
        assert "error" not in house.log(name).read_text().lower()
