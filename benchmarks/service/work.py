"""What the database is asked to do for one trial: P10.

Nobody estimates it: SQLite's driver and PostgreSQL's log say every statement that they ran.
"""

import json
import re
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import Engine, event

from app.main import build
from app.settings import Settings
from benchmarks.peers.environment import environment
from benchmarks.service import clients, rivals, servers
from benchmarks.service.figures import Figure, at_most, number
from benchmarks.service.space import NINE, loss
from benchmarks.service.wire import HOST, Wire, complete, lease_request, leases_of, study_spec

WARMING = 10  # trials before those that count: statements are prepared, curves are compared from the fifth on
REPORTS = 10
STUDY = "nine"
STOPPING = {"rule": "median", "metric": "loss"}
STEPS = ("ask", "reports", "tell")
BEGIN, END, WRITE = map(re.compile, (r"BEGIN\b", r"(COMMIT|ROLLBACK)$", r"(INSERT|UPDATE|DELETE)\b"))

Said = Callable[[], list[str]]  # returns every statement so far


@dataclass(frozen=True)
class Work:
    """What the database did."""

    transactions: float
    writing: float  # of these
    statements: float

    @classmethod
    def of(cls, statements: list[str], trials: int) -> "Work":
        """Count; what begins and ends a transaction is no statement, a savepoint is one."""
        transactions, writing, others, wrote = 0, 0, 0, False
        for statement in statements:
            if END.match(statement):
                transactions += 1
                writing += wrote
                wrote = False
            elif not BEGIN.match(statement):
                others += 1
                wrote = wrote or bool(WRITE.match(statement))
        return cls(transactions / trials, writing / trials, others / trials)


def work(*, quick: bool) -> Figure:
    """Ask, report and tell, ours and Optuna's, on both databases."""
    trials = 2 if quick else 20
    title = f"what the database does for a trial of {len(NINE)} dimensions and {REPORTS} reports"
    figure = Figure(name="work", title=title, head=("what", "transactions", "that write", "statements"))
    with tempfile.TemporaryDirectory() as folder:
        _show_ours(figure, "SQLite", f"sqlite:///{folder}/ours.db", trials, None)
        _show_optuna(figure, "SQLite", f"sqlite:///{folder}/optuna.db", trials, None)
    with servers.postgresql() as running:
        running.log_statements()
        for show in (_show_ours, _show_optuna):
            address = running.new_database()
            show(figure, "PostgreSQL", address, trials, partial(running.logged, address))
        figure.notes.append(running.version)
    figure.notes += [
        f"for each of {trials} trials after {WARMING}, proposed at random; a median rule, which stops none",
        f"our {REPORTS} reports come in one heartbeat, with Optuna each by itself and with should_prune",
        "ours without what a server does each second, whether there are trials or not",
        "transactions: all that end, those that only read too; Optuna's reads on SQLite are outside of any",
        "the one of ours that only reads is for the early stopping rule: the curves that it compares",
    ]
    return figure


def _show_ours(figure: Figure, database: str, address: str, trials: int, logged: Said | None) -> None:
    every: list[str] = []
    for step, statements in _ours(address, trials, logged).items():
        every += statements
        _show(figure, f"{database}: {step}", Work.of(statements, trials))
    whole = Work.of(every, trials)
    _show(figure, f"{database}: the trial", whole)
    figure.bars.append(at_most(3, whole.writing, f"P10 transactions that write, of a trial, {database}"))


def _show_optuna(figure: Figure, database: str, address: str, trials: int, logged: Said | None) -> None:
    _show(figure, f"Optuna on {database}: the trial", Work.of(_optunas(address, trials, logged), trials))


def _show(figure: Figure, what: str, cost: Work) -> None:
    figure.rows.append((what, number(cost.transactions), number(cost.writing), number(cost.statements)))


def _ours(address: str, trials: int, logged: Said | None) -> dict[str, list[str]]:
    """Return the statements of each step, of all trials together."""
    found: dict[str, list[str]] = {step: [] for step in STEPS}
    with _traced() as traced, _served_here(address) as port, Wire(port) as wire:
        said = logged or traced.copy
        wire.send("POST", "/api/v1/studies", _study())
        for trial in range(WARMING + trials):
            seen = said()
            for step in _steps(wire, trial):
                before, seen = len(seen), said()
                if trial >= WARMING:
                    found[step] += seen[before:]
    return found


def _study() -> dict[str, Any]:
    return study_spec(STUDY, "random") | {"space": NINE, "stopping": STOPPING}


def _steps(wire: Wire, trial: int) -> Iterator[str]:
    """Take each step, and say which it was."""
    lease = leases_of(wire.send("POST", "/api/v1/leases", lease_request("w", trial)))[0]
    yield "ask"
    reports = [{"step": step, "metrics": {"loss": 1 / (step + 1)}} for step in range(REPORTS)]
    heard = wire.send("POST", f"/api/v1/leases/{lease['lease_id']}/heartbeat", {"reports": reports})
    if heard["verdict"] != "continue":
        raise RuntimeError(f"the trial was to go on; the server said {heard}")
    yield "reports"
    wire.send(*complete(lease, loss(lease["config"])))
    yield "tell"


@contextmanager
def _traced() -> Iterator[list[str]]:
    """Collect what SQLite's driver runs on every connection of this process from now on."""
    traced: list[str] = []

    def trace(connection: Any, record: Any) -> None:
        del record
        if hasattr(connection, "set_trace_callback"):
            connection.set_trace_callback(traced.append)

    event.listen(Engine, "connect", trace)
    try:
        yield traced
    finally:
        event.remove(Engine, "connect", trace)


@contextmanager
def _served_here(address: str) -> Iterator[int]:
    """Serve a database from a thread of this process, without the work of its lifespan; give the port."""
    app = build(Settings(database=address))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", access_log=False, log_config=None))
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        serving.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            serving.join()
            app.state.house.store.close()


def _optunas(address: str, trials: int, logged: Said | None) -> list[str]:
    """Return the statements of Optuna's trials: it says them itself where no log does."""
    script = Path(__file__).with_name("optuna_work.py")
    command = [
        environment(rivals.OPTUNA),
        *rivals.QUIETLY,
        script,
        address,
        *map(str, (WARMING, trials, REPORTS)),
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process, clients.pipe(process.stdin) as told, clients.pipe(process.stdout) as said:
        said.readline()  # it has warmed up
        before = len(logged()) if logged else 0
        told.write("go\n")
        told.flush()
        traced: list[str] = json.loads(said.readline())
        return logged()[before:] if logged else traced
