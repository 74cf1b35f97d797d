"""What is read of a study with a long history: P13."""

import math
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote

from benchmarks.service import history, servers
from benchmarks.service.clients import p
from benchmarks.service.figures import Figure, at_most, number
from benchmarks.service.limits import limits
from benchmarks.service.wire import HOST, Refused, Wire, next_cursor, read

STUDY = f"/api/v1/studies/{history.STUDY}"
MISSING = (404, 405)
Answer = tuple[float, int]  # milliseconds, bytes


def pages(*, quick: bool) -> Figure:
    """Read lists and the summary of a study, on both databases."""
    trials, times, exports = (1_000, 20, 2) if quick else (100_000, 200, 5)
    head = ("what", "times", "p50 ms", "p95", "server CPU ms", "kB")
    figure = Figure(name="pages", title=f"what is read, {trials:,} trials", head=head)
    with history.on_sqlite(trials, "random") as address, servers.thiessen(address) as server:
        _read(figure, "SQLite", server, times)
        _whole(figure, "SQLite", server, exports)
    with (
        servers.postgresql() as running,
        history.on_postgresql(running, trials, "random") as make,
        servers.thiessen(make()) as server,
    ):
        _read(figure, "PostgreSQL", server, times)
        _whole(figure, "PostgreSQL", server, exports)
    figure.notes += [
        limits(1).sentence(),
        "a history is read from the database once, before its times are taken; what came since, each time",
    ]
    return figure


def _read(figure: Figure, database: str, server: servers.Server, times: int) -> None:
    paths = {
        "summary of the study": (15, STUDY),
        "ten best configs": (15, f"{STUDY}/best?top=10"),
        "list of studies": (15, "/api/v1/studies"),
    }
    with Wire(server.port) as wire:
        for what, (bar, path) in paths.items():
            _measure(figure, f"{database}: {what}", bar, server, partial(_again, wire, path, times))
        every = _measure(figure, f"{database}: every page of 100 trials", 10, server, partial(_through, wire))
        for what, part in (("first", every[:10]), ("last", every[-10:])):
            if part:
                _show(figure, f"{database}: the {what} ten of those pages", 10, part)


def _whole(figure: Figure, database: str, server: servers.Server, times: int) -> None:
    """Read the history as columns, all of it and for a scatter, and download the study as it is exported."""
    with Wire(server.port) as wire:
        (first, _), _ = _timed(wire, f"{STUDY}/history?most=1")
        figure.notes.append(f"{database}: the first to ask for a history waited {first / 1000:.1f} s")
        for what, bar, query in (
            ("scatter of 2,000", 15, "?most=2000"),
            ("whole history as columns", 200, ""),
        ):
            reading = partial(_again, wire, f"{STUDY}/history{query}", 10 * times)
            _measure(figure, f"{database}: {what}", bar, server, reading)
    for kind in ("parquet", "csv"):
        downloads = partial(_downloads, server.port, f"{STUDY}/export?format={kind}", times)
        _measure(figure, f"{database}: every trial as {kind}", None, server, downloads)


def _measure(
    figure: Figure, what: str, bar: float | None, server: servers.Server, reading: Callable[[], list[Answer]]
) -> list[Answer]:
    """Read, show what it took, and return it; nothing when there is no such route yet."""
    cpu = server.cpu_seconds()
    try:
        seen = reading()
    except Refused as refused:
        if refused.status not in MISSING:
            raise
        figure.notes.append(f"{what}: this server has no such route")
        return []
    _show(figure, what, bar, seen, 1000 * (server.cpu_seconds() - cpu) / len(seen))
    return seen


def _show(figure: Figure, what: str, bar: float | None, seen: list[Answer], cpu: float = math.nan) -> None:
    ordered = sorted(milliseconds for milliseconds, _ in seen)
    size = sum(length for _, length in seen) / len(seen) / 1000
    figure.rows.append((what, f"{len(seen):,}", *map(number, (p(50, ordered), p(95, ordered), cpu, size))))
    if bar is not None:
        figure.bars.append(at_most(bar, p(95, ordered), f"P13 p95 ms, {what}"))


def _again(wire: Wire, path: str, times: int) -> list[Answer]:
    return [_timed(wire, path)[0] for _ in range(times)]


def _downloads(port: int, path: str, times: int) -> list[Answer]:
    with closing(HTTPConnection(HOST, port)) as http:  # which reads answers in chunks
        return [_downloaded(http, path) for _ in range(times)]


def _downloaded(http: HTTPConnection, path: str) -> Answer:
    begun = time.perf_counter()
    http.request("GET", path)
    answer = http.getresponse()
    content = answer.read()
    if answer.status != HTTPStatus.OK:
        raise Refused(answer.status, content)
    return 1000 * (time.perf_counter() - begun), len(content)


def _through(wire: Wire) -> list[Answer]:
    """Follow the cursors of the list to its end."""
    seen: list[Answer] = []
    cursor: str | None = ""
    while cursor is not None:
        following = f"&cursor={quote(cursor)}" if cursor else ""
        answer, page = _timed(wire, f"{STUDY}/trials?limit=100{following}")
        seen.append(answer)
        cursor = next_cursor(page)
    return seen


def _timed(wire: Wire, path: str) -> tuple[Answer, Any]:
    begun = time.perf_counter()
    status, content = wire.exchange("GET", path)
    milliseconds = 1000 * (time.perf_counter() - begun)
    return (milliseconds, len(content)), read(status, content)
