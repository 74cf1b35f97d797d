"""What figures are made of: the trials of a study as columns, and a few of them with more."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush, heappushpop
from typing import Final, Literal

import numpy as np

from thiessen.columns import Columns
from thiessen.elementwise import Array
from thiessen.search.landscape import Landscape
from thiessen.space import Config, Space

LATEST: Final = 64  # trials, the last numbered: among them the candidates of proposals are looked for
MOST_UNFINISHED: Final = 500  # drawn at once

Curve = Sequence[tuple[int, Mapping[str, float]]]
"""A learning curve: steps, and what was reported there."""


@dataclass(frozen=True, kw_only=True)
class Unfinished:
    """A trial that has not ended."""

    number: int
    state: Literal["queued", "running"]
    config: Config


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """One of the latest proposals, with the last few candidates that were refused before it."""

    number: int
    config: Config
    refused: Sequence[Config]


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One execution of a trial: where and when."""

    trial: int
    worker: str
    device: str
    start: float  # seconds since 1970
    end: float | None  # None while it runs
    outcome: str | None
    loss: float | None  # of its trial, where this attempt brought it


@dataclass(frozen=True, kw_only=True)
class Trials:
    """The finished trials of a study as columns, in the order they finished in, and what else is drawn.

    Only some figures need curves or attempts: whoever makes one of these fetches them.
    """

    study: str
    space: Space
    direction: Literal["minimize", "maximize"]
    numbers: Array
    states: Array  # strings
    losses: Array  # NaN where there is none
    codes: Array  # a row for each dimension, as `Columns` has them
    is_broken: Array  # whether it failed in a way that counts as diverged in the landscape
    neighbours: int = 1  # whose mean loss the strategy takes for the estimate
    metric: str | None = None  # that trials are stopped by
    unfinished: Sequence[Unfinished] = ()
    latest: Sequence[Proposed] = ()  # oldest first
    curves: Mapping[int, Curve] = field(default_factory=dict)
    attempts: Sequence[Attempt] = ()
    now: float = 0.0  # seconds since 1970, where attempts run still

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.space)

    @cached_property
    def points(self) -> Array:
        """The unit coordinates, a row for each trial; NaN where a dimension is inactive."""
        return self.columns.encoded(np.ascontiguousarray(self.codes.T))

    @cached_property
    def succeeded(self) -> Array:
        """Which of them have succeeded."""
        return np.asarray(self.states == "succeeded")

    @cached_property
    def best(self) -> int | None:
        """The place of the best that succeeded; of equal ones that with the lowest number."""
        (places,) = self.succeeded.nonzero()
        if not len(places):
            return None
        order = np.lexsort((self.numbers[places], self.losses[places]))
        return int(places[order[0]])

    def value(self, loss: float) -> float:
        """Return the user's number of a loss."""
        return loss if self.direction == "minimize" else -loss

    def values(self, losses: Array) -> Array:
        """Return the user's numbers of losses."""
        return losses if self.direction == "minimize" else -losses

    def place(self, name: str) -> int:
        """Return the place of a dimension."""
        return list(self.space.dimensions).index(name)

    @cached_property
    def teaches(self) -> Array:
        """Which of them the landscape is told of."""
        return np.isin(self.states, ["succeeded", "diverged", "pruned"]) | self.is_broken

    @cached_property
    def counted(self) -> Array:
        """The loss that each counts with in the landscape, NaN where it diverged.

        A pruned one counts with its last, and with no less than the median of those that succeeded before it.
        """
        counted = np.where(self.succeeded, self.losses, np.nan)
        is_pruned = self.states == "pruned"
        if not is_pruned.any():
            return counted
        median = _Median()
        for at in np.flatnonzero(self.succeeded | is_pruned).tolist():
            if is_pruned[at]:
                counted[at] = np.maximum(self.losses[at], median.value)  # NaN if either is
            else:
                median.add(float(self.losses[at]))
        return counted

    @cached_property
    def landscape(self) -> Landscape:
        """The nearest-neighbour model that the next proposal would be judged by."""
        landscape = Landscape(self.space)
        there = self.teaches
        landscape.observe_each(self.numbers[there].tolist(), self.points[there], self.counted[there].tolist())
        return landscape


class _Median:
    """The median of numbers that come one by one."""

    def __init__(self) -> None:
        self._below: list[float] = []  # heaps; this one of the numbers with the other sign
        self._above: list[float] = []

    def add(self, number: float) -> None:
        heappush(self._above, -heappushpop(self._below, -number))
        if len(self._above) > len(self._below):
            heappush(self._below, -heappop(self._above))

    @property
    def value(self) -> float:
        """NaN of none."""
        if not self._below:
            return math.nan
        low, high = -self._below[0], (self._above or [0.0])[0]
        # Each scaled first, as the landscape does: the difference of two huge losses overflows.
        return low if len(self._below) > len(self._above) else min(max(low * 0.5 + high * 0.5, low), high)


def on(trials: Trials, names: Sequence[str]) -> Trials:
    """Return the trials as if the space had these dimensions alone: those in which they are active."""
    places = [trials.place(name) for name in names]
    is_in = ~np.isnan(trials.codes[places]).any(axis=0)
    alone = {name: replace(trials.space.dimensions[name], when=None) for name in names}  # type: ignore[type-var]
    return replace(
        trials,
        space=Space(**alone),
        numbers=trials.numbers[is_in],
        states=trials.states[is_in],
        losses=trials.losses[is_in],
        codes=trials.codes[places][:, is_in],
        is_broken=trials.is_broken[is_in],
    )
