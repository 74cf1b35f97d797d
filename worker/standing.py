"""What each slot does now, for whoever watches; on a terminal as lines that live."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.live import Live
from rich.table import Table

from thiessen.console import Terminal
from thiessen.contract import Point


@dataclass
class Standing:
    """How far a slot is; written by its thread, read by whoever shows it."""

    slot: str
    study: str | None = None  # None: it waits for a trial
    trial: int = 0
    attempt: int = 0
    step: int | None = None
    steps: int | None = None  # as the task said
    metric: str = ""  # the first of the last report
    begun_at: float = 0.0
    first_step: int = 0  # of this attempt, which may have begun at a checkpoint
    first_at: float = 0.0

    def begin(self, *, study: str, trial: int, attempt: int) -> None:
        """An attempt begins."""
        self.study, self.trial, self.attempt = study, trial, attempt
        self.step = self.steps = None
        self.metric = ""
        self.begun_at = time.monotonic()

    def reached(self, point: Point) -> None:
        """The attempt reported a point."""
        if self.step is None:
            self.first_step, self.first_at = point.step, time.monotonic()
        self.step = point.step
        name, value = next(iter(point.metrics.items()))
        self.metric = f"{name} {value:.5g}" if isinstance(value, float) else f"{name} {value}"

    def end(self) -> None:
        """The attempt is over."""
        self.study = None

    def seconds_left(self) -> float | None:
        """Return how long it takes still at its pace; None when that is not known."""
        if self.steps is None or self.step is None or self.step <= self.first_step:
            return None
        pace = (time.monotonic() - self.first_at) / (self.step - self.first_step)
        return max(self.steps - self.step, 0) * pace


@contextmanager
def shown(standings: Sequence[Standing], console: Terminal, log_format: str = "auto") -> Iterator[None]:
    """Show a line for each slot while the block runs, where people look at a terminal."""
    if not console.is_terminal or log_format == "json":
        yield
        return
    with Live(get_renderable=lambda: lines(standings), console=console, refresh_per_second=4, transient=True):
        yield


def lines(standings: Sequence[Standing]) -> Table:
    """Return a line for each slot: study, trial, attempt, step, last metric, time since, time left."""
    table = Table.grid(padding=(0, 2))
    for standing in standings:
        table.add_row(standing.slot, *_cells(standing))
    return table


def _cells(standing: Standing) -> list[str]:
    if standing.study is None:
        return ["waits for a trial"]
    left = standing.seconds_left()
    step = "" if standing.step is None else f"step {standing.step}"
    return [
        standing.study,
        f"trial {standing.trial}",
        f"attempt {standing.attempt}",
        step if standing.steps is None or not step else f"{step} of {standing.steps}",
        standing.metric,
        _clock(time.monotonic() - standing.begun_at),
        "" if left is None else f"{_clock(left)} left",
    ]


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
