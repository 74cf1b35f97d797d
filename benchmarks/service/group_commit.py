"""How many results are acknowledged for each time the disk keeps something: P7."""

from benchmarks.service import clients, history, servers
from benchmarks.service.clients import p
from benchmarks.service.figures import Figure, at_least, number
from benchmarks.service.limits import fsyncs

BARS = {8: 1.5, 32: 3.0}
LONG = {"THIESSEN_LEASE_SECONDS": "3600"}  # nothing lapses before all leases are taken
SLOW = 500  # fsyncs a second, up to which the bar of 32 clients holds


def group_commit(*, quick: bool) -> Figure:
    """Let clients end leases that they took before the clock starts, on SQLite with synchronous=FULL."""
    leases, trials = (20, 0) if quick else (150, 1_000)
    head = ("clients", "tells/s", "p50 ms", "p99", "server CPU ms", "fsyncs/s", "tells for an fsync")
    figure = Figure(name="group-commit", title="acknowledged results beside the disk", head=head)
    for count, bar in {1: 0.0, **BARS}.items():
        before = fsyncs(2)
        with history.on_sqlite(trials, "random") as address, servers.thiessen(address, **LONG) as server:
            seen = clients.together(clients.ours("tells", server.port, count, leases), server.cpu_seconds)
        disk = (before + fsyncs(2)) / 2
        times = (seen.rate, p(50, seen.tells), p(99, seen.tells), seen.server_ms, disk, seen.rate / disk)
        figure.rows.append((str(count), *map(number, times)))
        if bar and (count < max(BARS) or disk <= SLOW):
            figure.bars.append(at_least(bar, seen.rate / disk, f"P7 tells/s over fsyncs/s, {count} clients"))
    figure.notes.append(
        f"{leases} results of each client; SQLite FULL; fsyncs/s of 8 KiB appended, around each row; "
        f"the bar of 32 clients holds for disks of at most {SLOW} fsyncs/s"
    )
    return figure
