"""How much slower a long history makes an ask: P5, and P6 where it says so."""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.service import clients, history, servers
from benchmarks.service.clients import Seen, p
from benchmarks.service.cycles import CLIENTS
from benchmarks.service.figures import Bar, Figure, at_least, at_most, number
from benchmarks.service.wire import STRATEGIES

Both = tuple[servers.Server, servers.Server]


def growth(*, quick: bool) -> Figure:
    """Ask servers of a short and of a long history in turns: what else the machine does meets both."""
    sizes = (1_000, 10_000) if quick else (1_000, 100_000)
    rounds, seconds = (2, 1.0) if quick else (6, 2.0)
    title = f"asks at {sizes[1]:,} trials beside {sizes[0]:,}, SQLite FULL"
    head = ("strategy", "trials", "clients", "ask p50 ms", "p99", "cycles/s")
    figure = Figure(name="growth", title=title, head=head)
    for strategy in STRATEGIES:
        for count in CLIENTS:
            with _side_by_side(strategy, sizes) as both:
                turns = [_turn(both, count, seconds) for _ in range(rounds)]
            short, long = (clients.added(seen) for seen in zip(*turns, strict=True))
            for trials, seen in zip(sizes, (short, long), strict=True):
                times = map(number, (p(50, seen.asks), p(99, seen.asks), seen.rate))
                figure.rows.append((strategy, f"{trials:,}", str(count), *times))
            figure.bars += _alone(strategy, short, long) if count == 1 else _together(strategy, short, long)
    figure.notes.append(f"both servers run side by side and are asked in turns, {rounds} times {seconds:g} s")
    return figure


def _alone(strategy: str, short: Seen, long: Seen) -> Iterator[Bar]:
    slowest = p(50, long.asks)
    yield at_most(1.5, slowest / p(50, short.asks), f"P5 ask p50, long over short, {strategy}")
    yield at_most(2, slowest, f"P5 ask p50 ms of the long one, {strategy}")


def _together(strategy: str, short: Seen, long: Seen) -> Iterator[Bar]:
    yield at_least(0.8, long.rate / short.rate, f"P6 cycles/s of 8 clients, long over short, {strategy}")


def _turn(both: Both, count: int, seconds: float) -> tuple[Seen, ...]:
    return tuple(clients.together(clients.ours("cycles", server.port, count, seconds)) for server in both)


@contextmanager
def _side_by_side(strategy: str, sizes: tuple[int, int]) -> Iterator[Both]:
    with (
        history.on_sqlite(sizes[0], strategy) as short,
        history.on_sqlite(sizes[1], strategy) as long,
        servers.thiessen(short) as first,
        servers.thiessen(long) as second,
    ):
        yield first, second
