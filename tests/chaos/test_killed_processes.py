"""Servers and workers are killed at random moments; afterwards every promise still holds."""

import random
import socket
from pathlib import Path

from sqlalchemy import select

from app.storage import open_store
from app.storage.tables import attempts, observations, studies, trials
from tests.conftest import wait_until
from thiessen.client import Client
from thiessen.contract import StudySpec

STRANGE_TASKS = str(Path(__file__).parents[1] / "worker" / "strange_tasks")
KILLS = 20
SEED = 6  # of the moments and the victims; the processes themselves are not repeatable
STUDY = StudySpec.model_validate(
    {
        "name": "chaos",
        "task": "takes",
        "space": {
            "x": {"type": "float", "low": 0.0, "high": 1.0},
            "seconds": {"type": "float", "low": 0.1, "high": 0.6},
        },
        "max_trials": 120,
        "max_attempts": 100,
    }
)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


class Crew:
    """One server and two workers, each replaced when it has been killed."""

    def __init__(self, programs, database) -> None:
        self.programs = programs
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.database = database
        self.members = {}
        self.tend("server")
        with Client(self.address) as client:
            wait_until(client.is_ready)
        for name in ("one", "two"):
            self.tend(name)

    def tend(self, name):
        if name == "server":
            command = ("serve", "--database", self.database, "--port", self.port)
            self.members[name] = self.programs(*command, THIESSEN_LEASE_SECONDS="2")
        else:
            command = ("worker", "--server", self.address, "--name", name)
            self.members[name] = self.programs(*command, PYTHONPATH=STRANGE_TASKS)

    def tend_all(self):
        for name, process in list(self.members.items()):
            if process.poll() is not None:
                self.tend(name)

    def kill(self, name):
        self.members[name].kill()
        self.members[name].wait()


def finished(client):
    counts = client.study("chaos").counts
    return counts.succeeded + counts.failed + counts.diverged


def test_nothing_is_lost_doubled_or_stuck_however_often_processes_are_killed(database, programs):
    moments = random.Random(SEED)
    crew = Crew(programs, database)
    with Client(crew.address) as client:
        client.create_study(STUDY)
        for _ in range(KILLS):
            wait_until(client.is_ready)
            aim = finished(client) + moments.randint(1, 4)
            wait_until(
                lambda aim=aim: crew.tend_all() or not client.is_ready() or finished(client) >= aim, 90
            )
            crew.kill(moments.choice(["server", "server", "one", "two"]))
            crew.tend_all()
        wait_until(client.is_ready)
        wait_until(lambda: crew.tend_all() or client.study("chaos").state == "completed", 300)
    for name in crew.members:
        crew.kill(name)

    check_promises(database)


def check_promises(database):
    store = open_store(database)
    rows = {
        table.name: store.read(lambda tx, t=table: tx.execute(select(t).order_by(*t.primary_key)).all())
        for table in (studies, trials, attempts, observations)
    }
    store.close()
    assert [trial.number for trial in rows["trials"]] == list(range(120)), "the budget, exactly"
    assert all(trial.state == "succeeded" and trial.loss == trial.config["x"] for trial in rows["trials"])
    assert [seen.seq for seen in rows["observations"]] == list(range(1, 121)), "numbered without a gap"
    assert sorted(seen.trial for seen in rows["observations"]) == list(range(120)), "each result once"
    ends = [attempt.outcome for attempt in rows["attempts"]]
    assert ends.count("succeeded") == 120
    assert set(ends) <= {"succeeded", "lost", "released"}
    lost = ends.count("lost")
    print(f"\n{KILLS} processes killed, {lost} attempts lost with them, 120 of 120 results kept")  # noqa: T201
