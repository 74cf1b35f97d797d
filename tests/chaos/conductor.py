"""Kills servers, workers, daemons and PostgreSQL, starts again what was killed, and counts.

It is also the person who cancels trials meanwhile.
"""

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
from tests.chaos.ledger_worker import METRIC, NOBODY, Servers

CHEAP_TASK = Path(__file__).parent / "cheap_task"
LEASE_SECONDS = 1.0  # the shortest: much is lost and given again
WORKERS = 8
PAUSE_SECONDS = (0.05, 0.6)  # between two kills at random moments
WORKED_SECONDS = (0.3, 2.5)  # that a server or daemon lives at least; its first proposals take a moment
FAILPOINTS_OF = {
    "server": ("claim-committed", "complete-committed", "half-a-complete", "half-a-group"),
    "worker": ("noted",),
    "daemon": ("spooled",),
}
LATEST = {"claim-committed": 20, "complete-committed": 20, "half-a-complete": 20, "half-a-group": 5,
          "noted": 10}  # fmt: skip # a failpoint kills this time at the latest; others the first
IDLE_SECONDS = 3.0  # after which a daemon goes: long enough to tell what waits in its spool
STUDIES = {
    "near": {"strategy": "biased_random"},
    "far": {"strategy": "quasi_random"},
    "short": {"strategy": "biased_random", "stopping": {"rule": "median", "metric": METRIC}},
}
CANCEL_EVERY = (0.5, 2.0)  # seconds
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
    written: int  # the size of its ledger when it was started
    strike_at: float | None = None  # of a server or daemon: not before it has worked for a moment


class Conductor:
    """Kills by plan: `due` at each failpoint so many times, and so many of each kind at random moments."""

    def __init__(
        self, folder, database, *, seed, due, servers=1, daemons=0, postgres=None,
        serve=("-m", "thiessen.cli"),
    ):  # fmt: skip
        self.folder, self.database, self.postgres = folder, database, postgres
        self.chance = random.Random(seed)
        self.ports = [_free_port() for _ in range(servers)]
        self.http = Servers(self.ports)
        self.members = {}
        self.survived = Counter()
        self.due = Counter(due)
        self.cancelled = set()  # study and number of each trial of which a server has said so
        self._daemons = daemons
        self._serve = serve
        self._cancelling, self._cancel_at = None, 0.0
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
        for name, special in STUDIES.items():
            study = {"name": name, "task": "chaos", "space": SPACE, "max_attempts": 100,
                     "max_trials": STRETCH, "allow_versions": True, **special}  # fmt: skip
            status, said = self.http.post("/studies", study)
            assert status == 201, said
        self._start_all("worker", WORKERS)
        self._start_all("daemon", self._daemons)

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
            self._cancel()
            if victims and time.monotonic() > strike_at:
                if self._kill(victims[-1]):
                    victims.pop()
                    strike_at = time.monotonic() + self.chance.uniform(*PAUSE_SECONDS)
                self.chance.shuffle(victims)  # so that nobody waits for a daemon that begins
            time.sleep(0.02)

    def finish(self, within_seconds):
        """Let every study and every worker come to its end; return whether they did."""
        self.due.clear()
        deadline = time.monotonic() + within_seconds
        while time.monotonic() < deadline:
            self._tend()
            if self._cancelling:
                self._cancel()
            if all(self._study(name).get("state") == "completed" for name in STUDIES):
                self._stop.touch()
                self._is_ending = True
            if all(name.startswith("server") for name in self.members):
                return True
            time.sleep(0.1)
        return False

    def ledgers(self):
        return {path.stem: ledger_worker.read(path) for path in self.folder.glob("*.ledger")}

    def _start_all(self, kind, most):
        for number in range(most):
            self._start(f"{kind}-{number}")

    def _start(self, name):
        failpoint = self._due(FAILPOINTS_OF[_kind(name)])
        at = "" if failpoint is None else failpoint
        if failpoint in LATEST:
            at += f":{self.chance.randint(1, LATEST[failpoint])}"
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", *self._command(name)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=os.environ | {"THIESSEN_FAILPOINT": at, "THIESSEN_LEASE_SECONDS": str(LEASE_SECONDS),
                                  "THIESSEN_LOG_LEVEL": "warning", "THIESSEN_THREADS": "1",
                                  "PYTHONPATH": os.pathsep.join([str(CHEAP_TASK), *sys.path])},
            )  # fmt: skip
        self.members[name] = Member(process, failpoint, log, written=_size(self._ledger(name)))

    def _command(self, name):
        number, ledger = _number(name), self._ledger(name)
        match _kind(name):
            case "server":
                port = str(self.ports[number])
                return [*self._serve, "serve", "--database", self.database, "--port", port]
            case "worker":
                more = [self._stop, str(LEASE_SECONDS), *map(str, self.ports)]
                return ["-m", "tests.chaos.ledger_worker", name, ledger, *more]
            case "daemon":
                port = str(self.ports[number % len(self.ports)])
                return ["-m", "tests.chaos.daemon", name, ledger, self._spool(name), str(IDLE_SECONDS), port]

    def _ledger(self, name):
        return self.folder / f"{name}.ledger"

    def _spool(self, name):
        return self.folder / f"{name}.spool"

    def _due(self, points):
        """Return a failpoint that has not been reached often enough, None for a life without one."""
        due = [point for point in points if self.due[point] > 0]
        return self.chance.choice(due) if due else None

    def _tend(self):
        """Count what has died at its failpoint, and start again whatever is dead."""
        for name, member in list(self.members.items()):
            code = member.process.poll()
            if code is None:
                continue
            if code == 0 and self._is_ending and not _waiting(self._spool(name)):
                del self.members[name]
                continue
            if code == -signal.SIGKILL:
                self.survived[f"at {member.failpoint}"] += 1
                self.due[member.failpoint] -= 1
            else:
                said = member.log.read_text()[-2000:]
                assert self._may_end(_kind(name), code, said), f"{name} ended with {code}: {said}"
            self._start(name)

    def _may_end(self, kind, code, said):
        """Say whether who was not killed may have ended so."""
        if kind == "server":
            return code == 1 and self.postgres is not None  # it says that PostgreSQL is away, and gives up
        return kind == "daemon" and (code == 0 or "no server answers" in said)

    def _kill(self, kind):
        """Kill one of a kind at this random moment; say whether there was one."""
        if kind == "postgres":
            self.postgres.kill()
            self.postgres.start()
        else:
            name = self.chance.choice([name for name in self.members if _kind(name) == kind])
            member = self.members[name]
            is_idle = kind != "worker" and not self._has_worked(name)
            if member.process.poll() is not None or is_idle:
                return False
            member.process.kill()
            member.process.wait()
            self._start(name)
        self.survived[f"{kind} at random"] += 1
        return True

    def _has_worked(self, name):
        """Say whether it has been at work for its own random moment: to kill it is only then news."""
        member = self.members[name]
        if member.strike_at is None and self._is_at_work(name):
            member.strike_at = time.monotonic() + self.chance.uniform(*WORKED_SECONDS)
        return member.strike_at is not None and time.monotonic() >= member.strike_at

    def _is_at_work(self, name):
        """Say whether a server answers, whether a daemon asks for trials."""
        if _kind(name) == "server":
            return _is_ready(self.ports[_number(name)])
        return _size(self._ledger(name)) > self.members[name].written

    def _extend(self):
        for name in STUDIES:
            study = self._study(name)
            if study and study["max_trials"] - sum(study["counts"].values()) < STRETCH / 2:
                longer = {"max_trials": study["max_trials"] + STRETCH}
                self.http.ask_once("PATCH", f"/studies/{name}", longer)

    def _cancel(self):
        """Cancel a running trial now and then; ask until there is an answer."""
        if time.monotonic() < self._cancel_at:
            return
        self._cancelling = self._cancelling or self._running()
        if self._cancelling is None:
            return
        study, number = self._cancelling
        path = f"/studies/{study}/trials/{number}"
        status, said = self.http.ask_once("PATCH", path, {"state": "cancelled"})
        if status in {NOBODY, 503}:
            return
        assert status in {200, 409}, said
        if status == 200:
            self.cancelled.add(self._cancelling)
        self._cancelling = None
        self._cancel_at = time.monotonic() + self.chance.uniform(*CANCEL_EVERY)

    def _running(self):
        """Return study and number of a running trial, if there is one and somebody answers."""
        study = self.chance.choice(list(STUDIES))
        status, found = self.http.ask_once("GET", f"/studies/{study}/trials?state=running")
        numbers = [trial["trial"] for trial in found["trials"]] if status == 200 else []
        return (study, self.chance.choice(numbers)) if numbers else None

    def _study(self, name):
        """Return a study as it stands, nothing while nobody answers."""
        status, study = self.http.ask_once("GET", f"/studies/{name}")
        return study if status == 200 else {}


def _waiting(spool):
    """Return the results on a daemon's disk that its server does not have."""
    return [file for file in spool.glob("*.jsonl") if file.stat().st_size]


def _kind(name):
    return name.split("-")[0]


def _number(name):
    return int(name.split("-")[1])


def _size(file):
    return file.stat().st_size if file.exists() else 0


def _is_ready(port):
    server = Servers([port], patience_seconds=0.5)
    status, _ = server.ask_once("GET", "/studies")
    server.close()
    return status == 200


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
