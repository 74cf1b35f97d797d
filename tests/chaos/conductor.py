"""Kills servers, workers and PostgreSQL, starts again what was killed, and counts."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.chaos import ledger_worker
from tests.chaos.ledger_worker import Servers

HERE = Path(__file__).parent
LEASE_SECONDS = 1.0  # the shortest: much is lost and given again
WORKERS = 8
PAUSE_SECONDS = (0.05, 0.6)  # between two kills at random moments
SERVED_SECONDS = (0.3, 2.5)  # that a server lives at least; its first proposals take a moment
LATEST = {"claim-committed": 20, "complete-committed": 20, "half-a-complete": 20, "half-a-group": 5,
          "spooled": 10}  # fmt: skip
OF_WORKERS = {"spooled"}
STUDIES = {"near": "biased_random", "far": "quasi_random"}
SPACE = {
    "x": {"type": "float", "low": 0.0, "high": 1.0},
    "kind": {"type": "categorical", "choices": ["a", "b"]},
}
STRETCH = 100  # trials by which a study is extended when it is about to end before its time


@dataclass
class Member:
    """A process of the troupe, and where it will be killed, if anywhere."""

    process: subprocess.Popen
    failpoint: str | None
    log: Path
    strike_at: float | None = None  # of a server: not before it has served for a moment


class Conductor:
    """Kills by plan: `due` at each failpoint so many times, and so many of each kind at random moments."""

    def __init__(
        self, folder, database, *, seed, due, servers=1, postgres=None, serve=("-m", "thiessen.cli")
    ):
        self.folder, self.database, self.postgres = folder, database, postgres
        self.chance = random.Random(seed)
        self.ports = [_free_port() for _ in range(servers)]
        self.http = Servers(self.ports)
        self.members = {}
        self.survived = Counter()
        self.due = Counter(due)
        self._serve = serve
        self._is_ending = False
        self._stop = folder / "stop"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.http.close()
        for member in self.members.values():
            member.process.kill()
            member.process.wait()

    def begin(self):
        """Start every server, create the studies, start every worker."""
        self._start_all("server", len(self.ports))
        for name, strategy in STUDIES.items():
            study = {"name": name, "task": "chaos", "space": SPACE, "strategy": strategy, "max_attempts": 100,
                     "max_trials": STRETCH}  # fmt: skip
            status, said = self.http.post("/studies", study)
            assert status == 201, said
        self._start_all("worker", WORKERS)

    def conduct(self, at_random, within_seconds):
        """Kill all that is planned, restarting it; studies go on as long as it takes."""
        victims = [kind for kind, times in at_random.items() for _ in range(times)]
        self.chance.shuffle(victims)
        deadline = time.monotonic() + within_seconds
        strike_at = 0.0
        while victims or +self.due:
            assert time.monotonic() < deadline, f"not reached: {+self.due}, {Counter(victims)}"
            self._tend()
            self._extend()
            if victims and time.monotonic() > strike_at and self._kill(victims[-1]):
                victims.pop()
                strike_at = time.monotonic() + self.chance.uniform(*PAUSE_SECONDS)
            time.sleep(0.02)

    def finish(self, within_seconds):
        """Let every study and every worker come to its end; return whether they did."""
        self.due.clear()
        deadline = time.monotonic() + within_seconds
        while time.monotonic() < deadline:
            self._tend()
            if all(self._study(name).get("state") == "completed" for name in STUDIES):
                self._stop.touch()
                self._is_ending = True
            if not any(name.startswith("worker") for name in self.members):
                return True
            time.sleep(0.1)
        return False

    def ledgers(self):
        return {path.stem: ledger_worker.read(path) for path in self.folder.glob("worker-*.ledger")}

    def _start_all(self, kind, most):
        for number in range(most):
            self._start(f"{kind}-{number}")

    def _start(self, name):
        kind, number = name.split("-")
        failpoint = self._due(OF_WORKERS if kind == "worker" else LATEST.keys() - OF_WORKERS)
        if kind == "server":
            command = [
                *self._serve,
                "serve",
                "--database",
                self.database,
                "--port",
                str(self.ports[int(number)]),
            ]
        else:
            command = ["-m", "tests.chaos.ledger_worker", name, self.folder / f"{name}.ledger", self._stop,
                       str(LEASE_SECONDS), *map(str, self.ports)]  # fmt: skip
        at = "" if failpoint is None else f"{failpoint}:{self.chance.randint(1, LATEST[failpoint])}"
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=os.environ | {"THIESSEN_FAILPOINT": at, "THIESSEN_LEASE_SECONDS": str(LEASE_SECONDS),
                                  "THIESSEN_LOG_LEVEL": "warning"},
            )  # fmt: skip
        self.members[name] = Member(process, failpoint, log)

    def _due(self, points):
        """Return a failpoint that has not been reached often enough, None for a life without one."""
        due = [point for point in sorted(points) if self.due[point] > 0]
        return self.chance.choice(due) if due else None

    def _tend(self):
        """Count what has died at its failpoint, and start again whatever is dead."""
        for name, member in list(self.members.items()):
            code = member.process.poll()
            if code is None:
                continue
            if code == 0 and self._is_ending:
                del self.members[name]
                continue
            if code == -signal.SIGKILL:
                self.survived[f"at {member.failpoint}"] += 1
                self.due[member.failpoint] -= 1
            else:
                # A server that starts while PostgreSQL is away says so and gives up.
                expected = 1 if self.postgres and name.startswith("server") else None
                assert code == expected, f"{name} ended with {code}: {member.log.read_text()[-2000:]}"
            self._start(name)

    def _kill(self, kind):
        """Kill one of a kind at this random moment; say whether there was one."""
        if kind == "postgres":
            self.postgres.kill()
            self.postgres.start()
        else:
            name = self.chance.choice([name for name in self.members if name.startswith(kind)])
            member = self.members[name]
            if member.process.poll() is not None or (kind == "server" and not self._has_served(name)):
                return False
            member.process.kill()
            member.process.wait()
            self._start(name)
        self.survived[f"{kind} at random"] += 1
        return True

    def _has_served(self, name):
        """Say whether a server has been answering for its own random moment: to kill it is only then news."""
        member = self.members[name]
        if member.strike_at is None and _is_ready(self.ports[int(name.split("-")[1])]):
            member.strike_at = time.monotonic() + self.chance.uniform(*SERVED_SECONDS)
        return member.strike_at is not None and time.monotonic() >= member.strike_at

    def _extend(self):
        for name in STUDIES:
            study = self._study(name)
            if study and study["max_trials"] - sum(study["counts"].values()) < STRETCH / 2:
                longer = {"max_trials": study["max_trials"] + STRETCH}
                self.http.ask_once("PATCH", f"/studies/{name}", longer)

    def _study(self, name):
        """Return a study as it stands, nothing while nobody answers."""
        status, study = self.http.ask_once("GET", f"/studies/{name}")
        return study if status == 200 else {}


def _is_ready(port):
    server = Servers([port], patience_seconds=0.5)
    status, _ = server.ask_once("GET", "/studies")
    server.close()
    return status == 200


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
