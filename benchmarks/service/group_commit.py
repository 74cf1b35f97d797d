"""How many results are acknowledged for each time the disk keeps something: P7."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.service import clients, history, servers
from benchmarks.service.clients import p
from benchmarks.service.figures import Figure, at_least, number

BARS = {8: 1.5, 32: 3.0}
LONG = {"THIESSEN_LEASE_SECONDS": "3600"}  # nothing lapses before all leases are taken
SLOW = 500  # fsyncs a second, up to which the bar of 32 clients holds


def group_commit(*, quick: bool) -> Figure:
    """Let clients end leases that they took before the clock starts, on SQLite with synchronous=FULL."""
    leases, trials = (20, 0) if quick else (150, 1_000)
    head = ("disk", "clients", "tells/s", "p50 ms", "p99", "server CPU ms", "fsyncs/s", "tells for an fsync")
    figure = Figure(name="group-commit", title="acknowledged results beside the disk", head=head)
    with slowed() as slow:
        for disk, slowness in (("as it is", {}), *([("slowed", slow)] if slow else [])):
            for count, bar in {1: 0.0, **BARS}.items():
                before = disk_rate(slowness)
                with (
                    history.on_sqlite(trials, "random") as address,
                    servers.thiessen(address, **LONG, **slowness) as server,
                ):
                    work = clients.ours("tells", server.port, count, leases)
                    seen = clients.together(work, server.cpu_seconds)
                rate = (before + disk_rate(slowness)) / 2
                times = (seen.rate, p(50, seen.tells), p(99, seen.tells), seen.server_ms)
                figure.rows.append((disk, str(count), *map(number, (*times, rate, seen.rate / rate))))
                if bar and (count < max(BARS) or rate <= SLOW):
                    what = f"P7 tells/s over fsyncs/s, disk {disk}, {count} clients"
                    figure.bars.append(at_least(bar, seen.rate / rate, what))
    figure.notes.append(
        f"{leases} results of each client; SQLite FULL; fsyncs/s of 8 KiB appended, around each row; "
        f"the bar of 32 clients holds for disks of at most {SLOW} fsyncs/s"
    )
    figure.notes.append(
        "slowed: the same disk, each fsync and fdatasync taking 4 ms longer (slow_disk.c here), "
        f"as on disks without a cache of their own{'' if slow else '; not measured: no C compiler is here'}"
    )
    return figure


@contextmanager
def slowed() -> Iterator[dict[str, str]]:
    """Give the environment in which a process finds the disk slow; nothing without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "slow_disk.so"
        source = Path(__file__).with_name("slow_disk.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source], check=True)
        yield {"LD_PRELOAD": str(made)}


def disk_rate(environment: dict[str, str]) -> float:
    """Return how often a second a process in this environment keeps a small write."""
    ask = "from benchmarks.service.limits import fsyncs; print(fsyncs(2))"
    said = subprocess.run(
        [sys.executable, "-c", ask],
        cwd=servers.HOUSE, env=os.environ | environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return float(said.stdout)
