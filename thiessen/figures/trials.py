"""What figures are made of: the trials of a study as columns, and a few of them with more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np

from thiessen.columns import Columns
from thiessen.elementwise import Array
from thiessen.figures.axes import LossAxis
from thiessen.figures.scale import Scale
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
    known_points: Array | None = None  # what `points` are, where they are known already
    neighbours: int = 1  # whose mean loss the strategy takes for the estimate
    metric: str | None = None  # that trials are stopped by
    unfinished: Sequence[Unfinished] = ()
    latest: Sequence[Proposed] = ()  # oldest first: at least those that have one of the last numbers
    curves: Mapping[int, Curve] = field(default_factory=dict)
    attempts: Sequence[Attempt] = ()
    now: float = 0.0  # seconds since 1970, where attempts run still
    by_rank: bool = False  # whether colours go by ranks
    whole: "Trials | None" = None  # of which these are the first

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.space)

    @cached_property
    def points(self) -> Array:
        """The unit coordinates, a row for each trial; NaN where a dimension is inactive."""
        if self.known_points is not None:
            return self.known_points
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
        losses = self.losses[places]
        equal = places[losses == losses.min()]
        return int(equal[self.numbers[equal].argmin()])

    @cached_property
    def scale(self) -> Scale:
        """Which loss has which colour: the same from the first trial to the last."""
        whole = self.whole or self
        return Scale.of(whole.losses[whole.succeeded], self.direction, by_rank=self.by_rank)

    @cached_property
    def loss_axis(self) -> LossAxis:
        """The axis of the user's number, which is the same too."""
        whole = self.whole or self
        return LossAxis.of(whole.values(whole.losses[whole.succeeded]), self.direction)

    @cached_property
    def last_number(self) -> int:
        """The last number that a trial of the whole has, -1 of none."""
        unfinished = max((each.number for each in self.unfinished), default=-1)
        return max(int((self.whole or self).numbers.max(initial=-1)), unfinished)

    @property
    def lately(self) -> list[Proposed]:
        """The latest proposals, oldest first."""
        last = self.last_number if self.whole is None else int(self.numbers.max(initial=-1))
        return [each for each in self.latest if last - LATEST < each.number <= last]

    def seen(self, *, after: int | None, by_rank: bool = False) -> "Trials":
        """Return the study as it was when so many trials had finished, or as it is where that is all."""
        if by_rank != self.by_rank:
            return replace(self, by_rank=by_rank).seen(after=after, by_rank=by_rank)
        if after is None or after >= len(self):
            return self
        first = slice(after)
        return replace(
            self,
            numbers=self.numbers[first],
            states=self.states[first],
            losses=self.losses[first],
            codes=self.codes[:, first],
            is_broken=self.is_broken[first],
            known_points=self.points[first],
            unfinished=(),
            whole=self.whole or self,
        )

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
        (pruned,) = (self.states == "pruned").nonzero()
        if len(pruned):
            before = self.succeeded.cumsum()[pruned]
            medians = running_medians(self.losses[self.succeeded], before)
            counted[pruned] = np.maximum(self.losses[pruned], medians)  # NaN if either is
        return counted

    @cached_property
    def landscape(self) -> Landscape:
        """The nearest-neighbour model that the next proposal would be judged by."""
        landscape = Landscape(self.space)
        there = self.teaches
        landscape.observe_each(self.numbers[there].tolist(), self.points[there], self.counted[there].tolist())
        return landscape


def running_medians(numbers: Array, firsts: Array) -> Array:
    """Return for each of `firsts` the median of so many of the first numbers, NaN of none.

    A wavelet matrix: bit by bit of the ranks, from the highest on, it sorts all numbers by that bit, and goes
    with each question to the half that the number in the middle is in.
    """
    if not len(numbers):
        return np.full(len(firsts), np.nan)
    order = np.argsort(numbers, kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    middles = np.concatenate([(firsts - 1) // 2, firsts // 2]).clip(0)  # the same where their count is odd
    begin, end = np.zeros(len(middles), np.int64), np.concatenate([firsts, firsts])
    found = np.zeros(len(middles), np.int64)
    for bit in reversed(range(max(int(len(ranks) - 1).bit_length(), 1))):
        is_high = (ranks >> bit & 1).astype(bool)
        lows = np.concatenate([[0], (~is_high).cumsum()])
        low_begin, low_end = lows[begin], lows[end]
        goes_high = middles >= low_end - low_begin
        middles = np.where(goes_high, middles - (low_end - low_begin), middles)
        found |= goes_high.astype(np.int64) << bit
        begin = np.where(goes_high, lows[-1] + begin - low_begin, low_begin)
        end = np.where(goes_high, lows[-1] + end - low_end, low_end)
        ranks = np.concatenate([ranks[~is_high], ranks[is_high]])
    low, high = np.split(numbers[order[found.clip(0, len(order) - 1)]], 2)
    # Each scaled first, as the landscape does: the difference of two huge losses overflows.
    is_odd = firsts % 2 == 1
    medians = np.where(is_odd, low, np.clip(low * 0.5 + high * 0.5, low, high))
    return np.where(firsts > 0, medians, np.nan)


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
        known_points=trials.points[is_in][:, places],
    )
