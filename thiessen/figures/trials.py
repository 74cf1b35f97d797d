"""What figures are made of: the trials of a study as columns, and a few of them with more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from thiessen.columns import Columns, values_of
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
    def landscape(self) -> Landscape:
        """The nearest-neighbour model that the next proposal would be judged by."""
        landscape = Landscape(self.space)
        (places,) = self.teaches.nonzero()
        is_pruned = self.states[places] == "pruned"
        bounds = [0, *(np.flatnonzero(np.diff(is_pruned)) + 1).tolist(), len(places)]
        for begin, end in pairwise(bounds):
            run = places[begin:end]
            if len(run) and is_pruned[begin]:
                for at in run.tolist():
                    config = config_of(self.space, self.codes[:, at])
                    last = self.losses[at]
                    landscape.observe_pruned(int(self.numbers[at]), config, None if np.isnan(last) else last)
            elif len(run):
                losses = np.where(self.succeeded[run], self.losses[run], np.nan)
                landscape.observe_each(self.numbers[run].tolist(), self.points[run], losses.tolist())
        return landscape


def config_of(space: Space, codes: Array) -> Config:
    """Return the config of a row of codes."""
    return {
        name: values_of(dimension, code)[0]
        for (name, dimension), code in zip(space.dimensions.items(), codes[:, np.newaxis], strict=True)
        if not np.isnan(code[0])
    }


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
