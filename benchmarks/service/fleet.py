"""A thousand workers, and a worker that vanishes: P11."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from benchmarks.service import history, servers
from benchmarks.service.clients import p
from benchmarks.service.figures import Figure, at_most, number
from benchmarks.service.wire import PatientWire, Refused, Wire, complete, lease_request, leases_of, study_spec

WORKERS = 1_000
HEARTBEAT, TRIAL = 10.0, 60.0  # seconds
FLEETS = ("thesis", "adaptive")
UNHURRIED = {"THIESSEN_LEASE_SECONDS": "120"}  # nothing lapses while the fleet gathers
LONG_POLL = {"wait_seconds": 20.0}


@dataclass
class Heard:
    """Milliseconds of every answer, by what was asked."""

    times: dict[str, list[float]] = field(default_factory=dict)
    faults: Counter[int] = field(default_factory=Counter)  # by status
    connections: int = 0

    async def send(self, wire: PatientWire, what: str, *request: object) -> object:
        """Send, and keep how long the answer took."""
        begun = time.perf_counter()
        try:
            return await wire.send(*request)  # type: ignore[arg-type]
        except Refused as refused:
            self.faults[refused.status] += 1
            return None
        finally:
            self.times.setdefault(what, []).append(1000 * (time.perf_counter() - begun))


def fleet(*, quick: bool) -> Figure:
    """Let 1,000 simulated workers go on from the middle of their trials, on SQLite FULL at 1,000 trials."""
    head = ("strategy, what", "answers", "p50 ms", "p99", "most")
    figure = Figure(name="fleet", title=f"{WORKERS:,} workers", head=head)
    figure.notes.append(
        f"a heartbeat each {HEARTBEAT:g} s, a trial each {TRIAL:g} s, from one process; SQLite FULL"
    )
    for strategy in FLEETS:
        with (
            history.on_sqlite(1_000, strategy) as address,
            servers.thiessen(address, **UNHURRIED) as server,
        ):
            heard, cpu, wall = asyncio.run(_fleet(server, 15.0 if quick else 60.0))
        _tell(figure, strategy, heard, cpu / wall, wall)
    return figure


def _tell(figure: Figure, strategy: str, heard: Heard, share: float, wall: float) -> None:
    """Add what was heard of one fleet."""
    for what, times in sorted(heard.times.items()):
        ordered = sorted(times)
        cells = (p(50, ordered), p(99, ordered), ordered[-1])
        figure.rows.append((f"{strategy}, {what}", f"{len(times):,}", *map(number, cells)))
    every = sorted(ms for times in heard.times.values() for ms in times)
    figure.bars.append(at_most(10, 100 * share, f"P11 share of one core, %, {strategy}"))
    figure.bars.append(at_most(50, p(99, every), f"P11 p99 of all answers, ms, {strategy}"))
    figure.notes.append(
        f"{strategy}: {len(every) / wall:.0f} requests/s over {wall:.0f} s; {heard.connections:,} new "
        f"connections, as the server closes idle ones; refused, by status: {dict(heard.faults) or 'none'}"
    )


async def _fleet(server: servers.Server, seconds: float) -> tuple[Heard, float, float]:
    """Return what was heard, and the CPU and wall seconds once every worker has a trial."""
    wires = [PatientWire(server.port) for _ in range(WORKERS)]
    leases = [await _leased(Heard(), wire, worker, 0) for worker, wire in enumerate(wires)]
    heard, random = Heard(), Random(0)
    opened = sum(wire.connections for wire in wires)
    begun, cpu = time.monotonic(), server.cpu_seconds()
    working = [
        asyncio.create_task(_work(heard, wire, worker, lease, random.uniform(0, TRIAL)))
        for worker, (wire, lease) in enumerate(zip(wires, leases, strict=True))
    ]
    broken, _ = await asyncio.wait(working, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    spent, wall = server.cpu_seconds() - cpu, time.monotonic() - begun
    for task in broken:
        task.result()  # raises what broke it
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    heard.connections = sum(wire.connections for wire in wires) - opened
    for wire in wires:
        wire.close()
    return heard, spent, wall


async def _work(heard: Heard, wire: PatientWire, worker: int, lease: dict[str, object], left: float) -> None:
    """Heartbeat until the trial is over, tell its result, and take the next."""
    number = 0
    await asyncio.sleep(left % HEARTBEAT)
    while True:
        for _ in range(int(left / HEARTBEAT)):
            path = f"/api/v1/leases/{lease['lease_id']}/heartbeat"
            await heard.send(wire, "heartbeat", "POST", path, {"reports": []})
            await asyncio.sleep(HEARTBEAT)
        await heard.send(wire, "complete", *complete(lease, 0.5))
        number += 1
        lease, left = await _leased(heard, wire, worker, number), TRIAL
        await asyncio.sleep(HEARTBEAT)


async def _leased(heard: Heard, wire: PatientWire, worker: int, number: int) -> dict[str, object]:
    request = lease_request(f"worker-{worker}", number)
    leases = leases_of(await heard.send(wire, "lease", "POST", "/api/v1/leases", request))
    return leases[0]


def lapsed(*, quick: bool) -> Figure:
    """Let a worker vanish with the only trial of a study, while another waits for it."""
    times = 2 if quick else 10
    settings = {"THIESSEN_LEASE_SECONDS": "2"}
    with (
        history.on_sqlite(0, "random") as address,
        servers.thiessen(address, **settings) as server,
        Wire(server.port) as wire,
    ):
        time.sleep(3)  # a server that has just begun takes no lease away before one length is over
        waiting = LONG_POLL if _has_long_polls(wire) else {}
        late = sorted(_given_again(wire, number, waiting) for number in range(times))
    figure = Figure(
        name="lapsed",
        title="how soon a lapsed lease is given again",
        head=("leases", "p50 s after its end", "most"),
        rows=[(str(times), number(p(50, late)), number(late[-1]))],
        bars=[at_most(2, late[-1], "P11 seconds from the end of a lease until another has its trial")],
    )
    how = "waits in a long poll" if waiting else "asks each 50 ms: this server has no long polls"
    figure.notes.append(f"leases of 2 s, SQLite; the other worker {how}")
    return figure


def _has_long_polls(wire: Wire) -> bool:
    nothing = {"tasks": ["nothing"], "wait_seconds": 0}
    try:
        wire.send("POST", "/api/v1/leases", lease_request("curious", 0) | nothing)
    except Refused:
        return False
    return True


def _given_again(wire: Wire, number: int, waiting: dict[str, float]) -> float:
    """Return how many seconds after its end a lease's trial is with another worker."""
    study = f"lapsed-{number}"
    wire.send("POST", "/api/v1/studies", study_spec(study, "random", max_trials=1))
    mine = {"studies": [study]}
    [lease] = leases_of(wire.send("POST", "/api/v1/leases", lease_request("vanishing", number) | mine))
    ends, asked = datetime.fromisoformat(lease["expires_at"]), 0
    while True:
        asked += 1
        request = lease_request(f"patient-{number}", asked) | mine | waiting
        if leases := leases_of(wire.send("POST", "/api/v1/leases", request)):
            late = (datetime.now(UTC) - ends).total_seconds()
            wire.send(*complete(leases[0], 0.5))
            return late
        time.sleep(0.05)
