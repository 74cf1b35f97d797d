"""Many clients at once, while the server is killed and started again: P12.

Each client keeps a ledger of what was acknowledged to it; in the end the database is held against them.
"""

import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine, func, select

from app.storage import check
from app.storage.tables import attempts, trials
from benchmarks.service import clients, servers
from benchmarks.service.clients import Seen, p
from benchmarks.service.figures import Figure, at_most, number
from benchmarks.service.wire import Wire, study_spec

CLIENTS = 32
KILLS = 5
LOOK_SECONDS = 0.05
ANY_NUMBER = {"THIESSEN_REQUESTS_PER_SECOND": "0"}  # all clients have one address, whose requests are limited
HEAD = ("what", "cycles", "kills", "seconds", "ask p50 ms", "p99", "tell p50 ms", "p99", "cut off")
HEAD += ("other refusals", "duplicates", "lost", "5xx", "contradictions")

Told = tuple[int, str, float]  # trial, lease, loss: acknowledged


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the database holds of what the clients were told."""

    acknowledged: int
    duplicates: int  # how often a trial was acknowledged again, or given away again
    lost: int  # acknowledged, and not in the database as they were told
    contradictions: list[str]  # of the database with itself


def storm(*, quick: bool) -> Figure:
    """Let the clients take a whole study, undisturbed and with the server killed, on both databases."""
    figure = Figure(name="storm", title=f"{CLIENTS} clients, and a server that is killed", head=HEAD)
    servers.RUNS.mkdir(parents=True, exist_ok=True)
    on_sqlite, on_postgresql = (500, 300) if quick else (50_000, 10_000)
    for kills in (0, KILLS):
        with tempfile.TemporaryDirectory(dir=servers.RUNS) as folder:
            _show(figure, "SQLite FULL", f"sqlite:///{folder}/storm.db", on_sqlite, kills)
    with servers.postgresql() as running:
        for kills in (0, KILLS):
            _show(figure, "PostgreSQL", running.new_database(), on_postgresql, kills)
        figure.notes.append(running.version)
    figure.notes += [
        "random strategy; what is not answered is sent again as it was, until it is",
        "a kill is a SIGKILL: nothing is said about power cuts",
    ]
    return figure


def _show(figure: Figure, database: str, address: str, cycles: int, kills: int) -> None:
    seen, verdict = weathered(address, cycles, kills=kills, count=CLIENTS)
    faults = Counter(seen.faults)
    cut, broken = faults.pop("cut off", 0), sum(faults.pop(each) for each in list(faults) if each >= "5")
    times = (seen.seconds, p(50, seen.asks), p(99, seen.asks), p(50, seen.tells), p(99, seen.tells))
    counts = (cut, faults.total(), verdict.duplicates, verdict.lost, broken, len(verdict.contradictions))
    what = f"{database}, killed {kills} times" if kills else f"{database}, undisturbed"
    shown = map("{:,}".format, (verdict.acknowledged, kills))
    figure.rows.append((database, *shown, *map(number, times), *map("{:,}".format, counts)))
    figure.notes += [f"{what}: {contradiction}" for contradiction in verdict.contradictions]
    figure.bars += [
        at_most(0, abs(cycles - verdict.acknowledged), f"P12 cycles missing of {cycles:,}, {what}"),
        at_most(0, verdict.duplicates, f"P12 duplicates, {what}"),
        at_most(0, verdict.lost, f"P12 lost acknowledged results, {what}"),
        at_most(0, broken, f"P12 answers 5xx, {what}"),
    ]


def weathered(address: str, cycles: int, *, kills: int, count: int) -> tuple[Seen, Verdict]:
    """Return what the clients saw of a study of so many trials in an empty database, and what is stored."""
    with servers.thiessen(address) as server, Wire(server.port) as wire:
        wire.send("POST", "/api/v1/studies", study_spec("storm", "random", max_trials=cycles))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as aside:
        ledgers = [Path(folder, f"{client}.jsonl") for client in range(count)]
        port, working = servers.free_port(), None
        for life in range(1, kills + 2):
            with servers.thiessen(address, port=port, **ANY_NUMBER) as server:
                working = working or aside.submit(clients.together, _commands(port, ledgers))
                if life > kills:
                    return working.result(), judged(address, _acknowledged(ledgers))
                _wait_for(working, ledgers, cycles * life / (kills + 1))
                os.kill(server.pid, signal.SIGKILL)
    raise AssertionError("the last life returns")


def _wait_for(working: Future[Seen], ledgers: list[Path], amount: float) -> None:
    """Wait until so much was acknowledged. Raises RuntimeError when nobody works any more."""
    while not working.done():
        if sum(ledger.read_bytes().count(b"\n") for ledger in ledgers if ledger.exists()) >= amount:
            return
        time.sleep(LOOK_SECONDS)
    raise RuntimeError(f"{working.result().cycles} cycles were done before the kill: they are too few")


def _commands(port: int, ledgers: list[Path]) -> list[clients.Command]:
    script = Path(__file__).with_name("storm_client.py")
    return [
        [sys.executable, script, str(port), f"w{client}", ledger] for client, ledger in enumerate(ledgers)
    ]


def _acknowledged(ledgers: list[Path]) -> list[Told]:
    return [tuple(json.loads(line)) for ledger in ledgers for line in ledger.read_text().splitlines()]


def judged(address: str, told: list[Told]) -> Verdict:
    """Hold what was acknowledged against the database."""
    engine = create_engine(address)
    with engine.connect() as connection:
        ended = connection.execute(
            select(attempts.c.lease_id, trials.c.number, trials.c.state, trials.c.loss)
            .join(trials, trials.c.id == attempts.c.trial_id)
            .where(attempts.c.outcome == "succeeded")
        )
        stored = {lease: tuple(row) for lease, *row in ended}
        tries = connection.execute(select(func.sum(trials.c.attempts - 1))).scalar_one() or 0
    engine.dispose()
    return Verdict(
        acknowledged=len(told),
        duplicates=len(told) - len({trial for trial, _, _ in told}) + tries,
        lost=sum(stored.get(lease) != (trial, "succeeded", loss) for trial, lease, loss in told),
        contradictions=check.faults(address),
    )
