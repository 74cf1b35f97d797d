"""Ask and tell over HTTP at histories of several lengths, ours and peers': P6 to P9."""

import math
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from app.settings import Settings
from benchmarks.service import clients, history, rivals, servers
from benchmarks.service.clients import Seen, p
from benchmarks.service.figures import Bar, Figure, at_least, at_most, number
from benchmarks.service.group_commit import disk_rate, slowed
from benchmarks.service.limits import Limits, limits
from benchmarks.service.space import SPACE
from benchmarks.service.wire import STRATEGIES

CLIENTS = (1, 8)
HEAD = ("what", "trials", "clients", "cycles/s", "ask p50 ms", "p99", "tell p50 ms", "p99", "server CPU ms")
HEAD += ("client CPU ms", "faults")
AS_SHIPPED, BY_HAND = "Optuna on SQLite as shipped", "Optuna on SQLite, WAL and NORMAL by hand"
PROXY, VIZIER = "Optuna's gRPC proxy of SQLite, WAL and NORMAL", "OSS Vizier's gRPC server in RAM"
OPTUNA_POSTGRESQL = "Optuna on PostgreSQL"
JUDGED = 1_000  # trials at which ours are held against peers

Key = tuple[str, int, int]  # what, trials, clients


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long and how much."""

    seconds: float
    trials: tuple[int, ...]
    peer_trials: tuple[int, ...]


FULL = Plan(seconds=5, trials=(0, 1_000, 10_000, 100_000), peer_trials=(0, 1_000, 10_000))
QUICK = Plan(seconds=2, trials=(0, 1_000), peer_trials=(0, 1_000))


class Results(dict[Key, Seen]):
    """What was seen of each, told as it comes."""

    def __setitem__(self, key: Key, seen: Seen) -> None:
        print(*row(key, seen), file=sys.stderr, flush=True)
        super().__setitem__(key, seen)

    def ratio(self, ours: Key, theirs: Key) -> float:
        """Return how many times as many cycles a second one has; NaN when one was not measured."""
        if ours not in self or theirs not in self:
            return float("nan")
        return self[ours].rate / self[theirs].rate


def on_sqlite(*, quick: bool) -> Figure:
    """Ours on SQLite, Optuna's on SQLite, its gRPC proxy, and OSS Vizier in RAM."""
    plan, found, physical = QUICK if quick else FULL, Results(), limits(2)
    for synchronous in ("FULL", "NORMAL") if _has_synchronous() else ("FULL",):
        for key in _keys(_sqlite(synchronous), plan.trials):
            found[key] = _ours_on_sqlite(key, synchronous, plan)
    for what, kind in ((AS_SHIPPED, "rdb"), (BY_HAND, "tuned")):
        for trials in plan.peer_trials:
            with rivals.optuna_on_sqlite(kind, trials) as address:
                for count in CLIENTS:
                    found[what, trials, count] = rivals.optuna(kind, address, count, plan.seconds)
    for trials in plan.peer_trials:
        with rivals.optuna_on_sqlite("tuned", trials) as address:
            for count in CLIENTS:
                found[PROXY, trials, count] = rivals.optuna_proxy(address, count, plan.seconds)
    about = [*_about(plan), physical.sentence(), *_vizier(found, plan)]
    figure = _figure("cycles-sqlite", "ask and tell on SQLite", found, physical, about)
    figure.bars = [*_sqlite_bars(found), *_costs(found, _sqlite("FULL"), 1.0)]
    return figure


def on_slow_disk(*, quick: bool) -> Figure:
    """Ours and Optuna's on a SQLite file whose disk takes its time, as most do."""
    plan, found = QUICK if quick else FULL, Results()
    with slowed() as slow:
        rate = disk_rate(slow)
        for synchronous in ("FULL", "NORMAL"):
            key = (f"{_sqlite(synchronous)}, random", JUDGED, 8)
            found[key] = _ours_on_sqlite(key, synchronous, plan, **slow)
        for what, kind in ((AS_SHIPPED, "rdb"), (BY_HAND, "tuned")):
            with rivals.optuna_on_sqlite(kind, JUDGED) as address:
                found[what, JUDGED, 8] = rivals.optuna(kind, address, 8, plan.seconds, **slow)
    about = [
        *_about(plan),
        f"{rate:,.0f} fsyncs/s: each fsync and fdatasync takes 4 ms longer (slow_disk.c here), as on disks "
        "without a cache of their own"
        if slow
        else "the disk as it is: no C compiler is here",
    ]
    return Figure(
        name="cycles-slow-disk",
        title="ask and tell on SQLite, on a slow disk",
        head=HEAD,
        rows=[row(key, seen) for key, seen in found.items()],
        notes=[*about, *_faults(found)],
        bars=[bar for bar in _sqlite_bars(found) if not math.isnan(bar.found)],
    )


def on_postgresql(*, quick: bool) -> Figure:
    """Ours and Optuna's on PostgreSQL."""
    plan, found, physical = QUICK if quick else FULL, Results(), limits(2)
    with servers.postgresql() as running:
        for strategy in STRATEGIES:
            for trials in plan.trials:
                with history.on_postgresql(running, trials, strategy) as make:
                    for count in CLIENTS:
                        found[f"PostgreSQL, {strategy}", trials, count] = _ours(make(), count, plan)
        for trials in plan.peer_trials:
            address = running.new_database()
            rivals.fill("rdb", address, trials)
            for count in CLIENTS:
                found[OPTUNA_POSTGRESQL, trials, count] = rivals.optuna("rdb", address, count, plan.seconds)
            running.drop(address)
        about = [*_about(plan), running.version, physical.sentence()]
    figure = _figure("cycles-postgresql", "ask and tell on PostgreSQL", found, physical, about)
    ratio = found.ratio(("PostgreSQL, random", JUDGED, 8), (OPTUNA_POSTGRESQL, JUDGED, 8))
    figure.bars = [at_least(10, ratio, f"P8 cycles/s over Optuna's, 8 clients, {JUDGED:,} trials")]
    figure.bars += _costs(found, "PostgreSQL", 1.5)
    return figure


def _keys(what: str, histories: Iterable[int]) -> Iterator[Key]:
    for strategy in STRATEGIES:
        for trials in histories:
            for count in CLIENTS:
                yield f"{what}, {strategy}", trials, count


def _ours_on_sqlite(key: Key, synchronous: str, plan: Plan, **settings: str) -> Seen:
    what, trials, count = key
    settings = {"THIESSEN_SQLITE_SYNCHRONOUS": synchronous.lower(), **settings}
    with history.on_sqlite(trials, what.rpartition(" ")[2]) as address:
        return _ours(address, count, plan, **settings)


def _ours(address: str, count: int, plan: Plan, **settings: str) -> Seen:
    with servers.thiessen(address, **settings) as server:
        return clients.together(clients.ours("cycles", server.port, count, plan.seconds), server.cpu_seconds)


def _vizier(found: Results, plan: Plan) -> Iterator[str]:
    """Measure OSS Vizier where it can be installed; say so where not."""
    try:
        for count in CLIENTS:
            found[VIZIER, 0, count] = rivals.vizier(count, plan.seconds)
    except subprocess.CalledProcessError as error:
        yield f"OSS Vizier could not be installed: {error}"
    else:
        yield "OSS Vizier 0.1.24: its DefaultVizierServer, RANDOM_SEARCH; nothing survives its process"


def _sqlite(synchronous: str) -> str:
    return f"SQLite {synchronous}"


def _has_synchronous() -> bool:
    return "sqlite_synchronous" in {field.name for field in fields(Settings)}


def _sqlite_bars(found: Results) -> Iterator[Bar]:
    normal, full = ((f"{_sqlite(kind)}, random", JUDGED, 8) for kind in ("NORMAL", "FULL"))
    beside = f"8 clients, {JUDGED:,} trials"
    for bar, peer in ((40, (AS_SHIPPED, JUDGED, 8)), (10, (BY_HAND, JUDGED, 8)), (3, (VIZIER, 0, 8))):
        yield at_least(bar, found.ratio(normal, peer), f"P6 cycles/s, NORMAL over {peer[0]}, {beside}")
    as_shipped = found.ratio(full, (AS_SHIPPED, JUDGED, 8))
    yield at_least(15, as_shipped, f"P7 cycles/s, FULL over {AS_SHIPPED}, {beside}")


def _costs(found: Results, what: str, bar: float) -> Iterator[Bar]:
    """Hold what a cycle costs the server to a bar."""
    for (ours, trials, count), seen in found.items():
        if ours.startswith(what):
            at = f"{ours} at {trials:,}, {count} clients"
            yield at_most(bar, seen.server_ms, f"P9 server CPU ms of a cycle, {at}")


def _figure(name: str, title: str, found: Results, physical: Limits, about: list[str]) -> Figure:
    rows = [row(key, seen) for key, seen in found.items()]
    for count, empty in zip(CLIENTS, (physical.one, physical.eight), strict=True):
        rows.append(row(("two empty HTTP requests", 0, count), empty))
    notes = [*about, *_faults(found)]
    return Figure(name=name, title=title, head=HEAD, rows=rows, notes=notes)


def row(key: Key, seen: Seen) -> tuple[str, ...]:
    """Return the line of a table."""
    what, trials, count = key
    times = (p(50, seen.asks), p(99, seen.asks), p(50, seen.tells), p(99, seen.tells))
    server = number(seen.server_ms) if seen.server_cpu else "-"
    cells = (number(seen.rate), *map(number, times), server, number(seen.client_ms))
    return what, f"{trials:,}", str(count), *cells, f"{sum(seen.faults.values()):,}"


def _faults(found: Results) -> Iterator[str]:
    for (what, trials, count), seen in found.items():
        for fault, times in seen.faults.items():
            yield f"{what} at {trials:,}, {count} clients: {times} times {fault}"


def _about(plan: Plan) -> Iterator[str]:
    yield (
        f"{len(SPACE)} dimensions, {plan.seconds:g} s a row; each client is a process with one kept "
        "connection and HTTP by hand, no client library; CPU is that of one cycle"
    )
    yield "ours with three strategies: random, the published rule (thesis), and the default (adaptive)"
    yield (
        "Optuna 5.0.0, its random sampler: its storage runs inside the clients, so its cost is in the CPU "
        "of the client; its history is written straight into its tables"
    )
