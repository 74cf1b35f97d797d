"""Client processes that work at once, and what they saw."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

Command = list[str | Path]
HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What some clients saw together; times in milliseconds, sorted."""

    seconds: float
    asks: list[float]
    tells: list[float]
    client_cpu: float  # seconds, all clients together
    server_cpu: float  # seconds
    faults: dict[str, int] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        """How often one of them told."""
        return len(self.tells)

    @property
    def rate(self) -> float:
        """Tells a second."""
        return self.cycles / self.seconds

    @property
    def server_ms(self) -> float:
        """CPU time of the server for each of them."""
        return 1000 * self.server_cpu / max(self.cycles, 1)

    @property
    def client_ms(self) -> float:
        """CPU time of the client for each of them."""
        return 1000 * self.client_cpu / max(self.cycles, 1)


def ours(what: str, port: int, clients: int, amount: float) -> list[Command]:
    """Return the commands of clients of the service."""
    marked = f"{time.time_ns():x}"  # request ids are never used twice
    script = HERE / "our_client.py"
    return [
        [sys.executable, script, what, str(port), f"w{marked}-{number}", str(amount)]
        for number in range(clients)
    ]


def together(commands: list[Command], server_cpu: Callable[[], float] = lambda: 0.0) -> Seen:
    """Start them, wait until all are ready, let them go at once, and gather what they saw."""
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for command in commands
    ]
    try:
        for process in started:
            _line(process, process.stdout)
        before = server_cpu()
        for process in started:
            pipe(process.stdin).write("go\n")
            pipe(process.stdin).flush()
        said = [json.loads(_line(process, process.stdout)) for process in started]
        return gathered(said, server_cpu() - before)
    finally:
        for process in started:
            process.kill()
            process.communicate()


def gathered(said: list[dict[str, Any]], server_cpu: float) -> Seen:
    """Return what all of them saw."""
    faults: Counter[str] = Counter()
    for one in said:
        faults.update(one["faults"])
    return Seen(
        seconds=max(one["seconds"] for one in said),
        asks=sorted(ask for one in said for ask in one["asks"]),
        tells=sorted(tell for one in said for tell in one["tells"]),
        client_cpu=sum(one["cpu"] for one in said),
        server_cpu=server_cpu,
        faults=dict(faults),
    )


def added(seen: Sequence[Seen]) -> Seen:
    """Return what was seen one after the other."""
    return Seen(
        seconds=sum(one.seconds for one in seen),
        asks=sorted(ask for one in seen for ask in one.asks),
        tells=sorted(tell for one in seen for tell in one.tells),
        client_cpu=sum(one.client_cpu for one in seen),
        server_cpu=sum(one.server_cpu for one in seen),
        faults=dict(sum((Counter(one.faults) for one in seen), Counter[str]())),
    )


def p(percent: float, ordered: list[float]) -> float:
    """Return a percentile of sorted numbers; NaN of none."""
    return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)] if ordered else float("nan")


def _line(process: subprocess.Popen[str], end: IO[str] | None) -> str:
    line = pipe(end).readline()
    if not line:
        raise RuntimeError(f"{process.args} ended with {process.wait()} before it was done")
    return line


def pipe(end: IO[str] | None) -> IO[str]:
    """Return one end of a pipe to a process that was started with pipes."""
    if end is None:
        raise RuntimeError("the process was started without its pipes")
    return end
