"""What the machine can do at most, measured in the same run."""

import os
import tempfile
import time
from dataclasses import dataclass

from benchmarks.service import clients, servers

PAGE = b"\0" * 8192  # about what a commit of SQLite appends to its log


def fsyncs(seconds: float) -> float:
    """Return how often a second this disk keeps a small write."""
    servers.RUNS.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=servers.RUNS, buffering=0) as file:
        begun, kept = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            file.write(PAGE)
            os.fsync(file.fileno())
            kept += 1
        return kept / (time.perf_counter() - begun)


@dataclass(frozen=True)
class Limits:
    """The disk, and HTTP without a service behind it."""

    fsyncs: float  # a second
    one: clients.Seen  # one client, two empty requests a cycle
    eight: clients.Seen

    def sentence(self) -> str:
        """Return all of it, in words."""
        return (
            f"limits in the same run: {self.fsyncs:,.0f} fsyncs/s; two empty requests with 1 client "
            f"{self.one.rate:,.0f} a second, {clients.p(50, self.one.asks):.2f} ms each, with 8 "
            f"{self.eight.rate:,.0f}, CPU of the server {self.eight.server_ms:.2f} ms for both"
        )


def limits(seconds: float) -> Limits:
    """Measure them."""
    with servers.bare() as server:
        one, eight = (
            clients.together(clients.ours("empty", server.port, count, seconds), server.cpu_seconds)
            for count in (1, 8)
        )
    return Limits(fsyncs(seconds), one, eight)
