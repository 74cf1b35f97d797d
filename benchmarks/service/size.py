"""How large a server grows and how soon it answers: P15 and P16."""

import math
import os
import subprocess
import sys
import time
from statistics import median

from benchmarks.service import clients, history, servers
from benchmarks.service.clients import p
from benchmarks.service.figures import Figure, at_most, number
from benchmarks.service.wire import Refused, Wire, lease_request

MOST = 999_000  # a study ends at 1,000,000, and must still have something to propose
STRATEGIES = ("thesis", "adaptive")
DEFAULT = "adaptive"
COMPILED = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(servers.RUNS / "bytecode")}
IMPORTS = """
import gc, os
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as `thiessen serve` does, like the next line
gc.disable()
import app.main, app.serving, uvloop, httptools
os._exit(0)  # to tear it all down again is no part of a start
"""


def memory(*, quick: bool) -> Figure:
    """Ask and tell at a long history until the server has read it, and look at its resident memory."""
    head = (
        "strategy",
        "trials",
        "started MB",
        "first ask ms",
        "after 1 s of cycles MB",
        "most MB",
        "ask p50 ms",
    )
    figure = Figure(name="memory", title="resident memory, SQLite, 10 dimensions", head=head)
    for strategy in STRATEGIES:
        for trials in (0, 10_000) if quick else (0, 100_000, MOST):
            found = _grown(figure, strategy, trials)
        figure.bars.append(at_most(250, found, f"P15 MB of the server with about 1e6 trials, {strategy}"))
    return figure


def _grown(figure: Figure, strategy: str, trials: int) -> float:
    """Show what a server takes; return its MB after the history was read, NaN when it was not."""
    with history.on_sqlite(trials, strategy) as address, servers.thiessen(address) as server:
        begun, first = server.megabytes(), _first_ask(server)
        if math.isnan(first):
            figure.notes.append(f"{strategy} at {trials:,}: the first ask was refused, the history not read")
            return math.nan
        asks = clients.together(clients.ours("cycles", server.port, 1, 1.0)).asks
        time.sleep(2)  # what is built in the background has had its time
        cells = (begun, 1000 * first, server.megabytes(), server.megabytes("VmHWM"), p(50, asks))
    figure.rows.append((strategy, f"{trials:,}", *map(number, cells)))
    return cells[2]


def cold_start(*, quick: bool) -> Figure:
    """Start servers and wait for /readyz; the file's pages may be in the system's cache."""
    times = 2 if quick else 7
    head = ("trials", "/readyz ms", "CPU ms", "first lease ms")
    figure = Figure(name="cold-start", title=f"from start to the first answers, median of {times}", head=head)
    bars = {0: 1.0, 10_000: 1.5} if quick else {0: 1.0, 100_000: 1.5, MOST: 4.0}
    for trials, bar in bars.items():
        with history.on_sqlite(trials, DEFAULT) as address:
            _start(address)  # which leaves the bytecode behind, as an installation does
            leased = _first_lease(address)
            starts = [_start(address) for _ in range(times)]
        ready, cpu = (median(column) for column in zip(*starts, strict=True))
        figure.rows.append((f"{trials:,}", *(number(1000 * value) for value in (ready, cpu, leased))))
        figure.bars.append(at_most(bar, ready, f"P16 seconds to /readyz, {trials:,} trials"))
    imports = median(_cpu([sys.executable, "-P", "-c", IMPORTS]) for _ in range(times))
    figure.bars.append(at_most(450, 1000 * imports, "P16 CPU ms of the imports"))
    figure.notes.append("from bytecode, as installed; the first lease once, after a start of its own")
    return figure


def _first_lease(address: str) -> float:
    """Return the seconds from a start to the first lease."""
    begun = time.perf_counter()
    with servers.thiessen(address, **COMPILED) as server:
        ready = time.perf_counter() - begun
        return ready + _first_ask(server)


def _start(address: str) -> tuple[float, float]:
    """Return the seconds to /readyz, and the CPU time until then."""
    begun = time.perf_counter()
    with servers.thiessen(address, **COMPILED) as server:
        return time.perf_counter() - begun, server.cpu_seconds()


def _first_ask(server: servers.Server) -> float:
    """Return the seconds of a lease, NaN when it is refused."""
    begun = time.perf_counter()
    with Wire(server.port) as wire:
        try:
            wire.send("POST", "/api/v1/leases", lease_request(f"first-{time.time_ns():x}", 0))
        except Refused:
            return math.nan
    return time.perf_counter() - begun


def _cpu(command: list[str]) -> float:
    process = subprocess.Popen(command, env=os.environ | COMPILED)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    return used.ru_utime + used.ru_stime
