"""Biased random search: draw at random, and keep the draw more often where the nearest trial did well."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Annotated, ClassVar, Final, Literal, get_args

import numpy as np

from thiessen.elementwise import Array, power_each
from thiessen.numbers import Stream
from thiessen.search import local
from thiessen.search.acceptance import ACCEPTANCES, Acceptance, Chance, Linear, Rank, SharpeningRank
from thiessen.search.draws import Draws
from thiessen.search.judgement import Judgement, Limited, Limits
from thiessen.search.landscape import Finished, Landscape, Nearest
from thiessen.search.reasons import LAST_REFUSED, Draw, Reasons, Refused
from thiessen.search.strategy import MAX_DRAWS, Proposal, Strategy, untaken
from thiessen.space import Config, Space

# The draws of a proposal, some at a time: of uniform ones most need few, of local ones many.
BATCHES: Final = tuple(starmap(range, pairwise((0, 1, 3, 7, 16, 64, MAX_DRAWS))))
LOCAL_BATCHES: Final = tuple(starmap(range, pairwise((0, 32, MAX_DRAWS))))
ACCEPTANCE: Final = SharpeningRank(trials=10.0)
LONG: Final = 20_000  # finished trials, from which on most have no chance
MANY: Final = 32  # draws: fewer are looked at at once
HALF_LOCAL: Final = 10  # finished trials, from which on half of what may be local is

Pending = Literal["ignore", "believer", "liar_mean"]


@dataclass(frozen=True)
class Candidate:
    """A draw not yet accepted."""

    config: Config
    parent: Finished | None = None  # whose config was changed for it
    nearest: Nearest | None = None
    acceptance: float = 1.0
    expected_share: float | None = None  # of the finished trials, to be better than it

    def estimate(self, landscape: Landscape) -> float | None:
        """Return the loss expected of it, or None where nothing or nothing finite is near."""
        if self.nearest is None or self.nearest.diverged:
            return None
        return self.nearest.estimate(landscape.worst)


@dataclass(frozen=True)
class BiasedRandom(Strategy):
    """Rejection sampling on the nearest-neighbour landscape.

    A candidate is drawn, its loss is estimated as that of the nearest finished trial, and it is kept with
    the probability that the acceptance makes of it. The preset `thesis` draws uniformly and keeps with
    probability (worst - estimate) / (worst - best). The preset `adaptive`, the usual one, goes by ranks, gets
    choosier with each trial, and draws most candidates near the best trials; of those it also asks that a
    surface through the best trials expects much of them.
    """

    acceptance: Annotated[Acceptance, ACCEPTANCES] = ACCEPTANCE  # of uniform draws
    neighbours: int = 1  # finished trials whose mean is the estimate
    initial: int = 8  # proposals at the start that are kept without looking at any loss
    explore: float = 0.02  # the share of the others that are, too
    local: float = 0.8  # the share of the rest that change one of the best configs, after many trials
    pending: Pending = "ignore"  # what a pending trial counts as: nothing, its own estimate, or the mean loss
    name: ClassVar[str] = "biased_random"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for setting, least in (("neighbours", 1), ("initial", 0)):
            if type(number := getattr(self, setting)) is not int or number < least:
                raise ValueError(
                    f"{setting} of a biased random search is a whole number from {least} on; got {number!r}."
                )
        for setting in ("explore", "local"):
            if not 0 <= (share := getattr(self, setting)) <= 1:
                raise ValueError(
                    f"{setting} of a biased random search is a share between 0 and 1; got {share!r}."
                )
        if self.pending not in get_args(Pending):
            raise ValueError(f"pending trials are treated as {get_args(Pending)}; got {self.pending!r}.")

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        kind = self._kind(landscape, turn, rng)
        draws = Draws(landscape, rng, are_local=kind == "local")
        judgement = self._judgement(kind, draws, landscape)
        for numbers in LOCAL_BATCHES if kind == "local" else BATCHES:
            draws.more(numbers)
            place = judgement.first_kept()
            if place is not None:
                return self._proposal(place, kind, draws.numbers[place], draws, judgement, landscape)
        if not len(draws):
            draws.add(MAX_DRAWS, untaken(space, landscape, rng), None, 0.0)
            judgement.first_kept()
            return self._proposal(0, "remaining", MAX_DRAWS, draws, judgement, landscape)
        place = judgement.chosen(rng.uniform())
        return self._proposal(place, kind, MAX_DRAWS, draws, judgement, landscape)

    def _kind(self, landscape: Landscape, turn: int, rng: Stream) -> Draw:
        """Return what kind of candidates to draw. What may not be is not asked for, and costs no number."""
        known = len(landscape)
        if max(turn, known) < self.initial:
            return "initial"
        if self.explore and rng.uniform() < self.explore:
            return "exploration"
        if self.local and _tells_apart(landscape):
            return "local" if rng.uniform() < self.local * known / (known + HALF_LOCAL) else "uniform"
        return "uniform"

    def _judgement(self, kind: Draw, draws: Draws, landscape: Landscape) -> Judgement:
        """Return how draws of this kind are judged by what has finished."""
        if kind in {"initial", "exploration"} or not len(landscape):
            return Judgement(draws, None, lambda _: [], _no_limits)
        supposed = self._supposed(landscape)
        rule = local.ACCEPTANCE if kind == "local" else self.acceptance
        chance = _remembered(rule(landscape)) if _knows_a_loss(landscape) else lambda _: 1.0
        limits: Limits = _no_limits
        if kind == "local":
            limits = _limits_by_surface(landscape)
        elif isinstance(rule, Rank | SharpeningRank) and self.neighbours == 1 and not supposed:
            limits = _limits_by_rank(landscape, chance)

        def nearest_each(points: Array) -> list[Nearest]:
            return landscape.nearest_each(points, neighbours=self.neighbours, pending=supposed)

        return Judgement(draws, chance, nearest_each, limits)

    def _supposed(self, landscape: Landscape) -> Mapping[int, float]:
        """Return the losses that pending trials count with."""
        if self.pending == "ignore" or not landscape.pending or not _knows_a_loss(landscape):
            return {}
        if self.pending == "liar_mean":
            return dict.fromkeys(landscape.pending, landscape.mean)
        points = [landscape.space.encode(config) for config in landscape.pending.values()]
        each = landscape.nearest_each(points, neighbours=self.neighbours)
        return {
            trial: math.nan if nearest.diverged else nearest.estimate(landscape.worst)
            for trial, nearest in zip(landscape.pending, each, strict=True)
        }

    def _proposal(
        self, place: int, kind: Draw, number: int, draws: Draws, judgement: Judgement, landscape: Landscape
    ) -> Proposal:
        """Return the draw in this place, which so many were drawn before, with the reasons for it."""
        is_forced = number == MAX_DRAWS and kind != "remaining"
        end = len(draws) if is_forced else place
        refused = range(max(end - LAST_REFUSED, 0), end)
        judgement.settle([*refused, place])
        candidate = _candidate(place, draws, judgement)
        nearest, parent = candidate.nearest, candidate.parent
        reasons = Reasons(
            strategy=self.name,
            watermark=landscape.watermark,
            draw=kind,
            refused=number,
            last_refused=tuple(_refused(_candidate(each, draws, judgement), landscape) for each in refused),
            forced=is_forced,
            nearest_trial=nearest.trial if nearest else None,
            nearest_is_pending=nearest is not None and nearest.trial in landscape.pending,
            distance=nearest.distance if nearest else None,
            estimate=candidate.estimate(landscape),
            neighbourhood=len(nearest.losses) if nearest else 1,
            acceptance=candidate.acceptance,
            parent=parent.trial if parent else None,
            expected_share=candidate.expected_share,
        )
        return Proposal(candidate.config, reasons)


def _candidate(place: int, draws: Draws, judgement: Judgement) -> Candidate:
    """Return a draw that was settled."""
    return Candidate(
        draws.config(place),
        draws.parents[place],
        judgement.nearest.get(place),
        judgement.most[place],
        judgement.shares[place],
    )


def _knows_a_loss(landscape: Landscape) -> bool:
    """Return whether anything finite is known."""
    return landscape.best <= landscape.worst


def _tells_apart(landscape: Landscape) -> bool:
    """Return whether one trial ranks before another."""
    known = len(landscape)
    return known > 0 and landscape.rank(landscape.ranked(0).loss) < landscape.rank(
        landscape.ranked(known - 1).loss
    )


def _no_limits(points: Array) -> Limited:
    return np.ones(len(points)), [None] * len(points)


def _limits_by_surface(landscape: Landscape) -> Limits:
    """Return how likely what a surface expects of local draws lets them be kept."""
    expectation = local.expectation(landscape)
    if expectation is None:
        return _no_limits
    exponent = local.ACCEPTANCE.exponent(landscape)

    def limits(points: Array) -> Limited:
        shares = expectation(points)
        return power_each(1.0 - shares, exponent), shares.tolist()

    return limits


def _limits_by_rank(landscape: Landscape, chance: Chance) -> Limits:
    """Return 0 where the nearest trial surely gives no chance, as in a long history most do.

    Who ranks behind the first that gives none gives none either, nor does the mean of several: one rank is
    further than rounding.
    """
    known = len(landscape)
    if known < LONG:
        return _no_limits
    first = bisect_left(range(known), 1, key=lambda at: chance((landscape.ranked(at).loss,)) == 0)
    hopeful = landscape.places(landscape.ranked(min(first, known - 1)).loss)
    if 4 * hopeful > known:
        return _no_limits

    def limits(points: Array) -> Limited:
        if len(points) < MANY:
            return _no_limits(points)
        return landscape.may_be_near(points, hopeful).astype(float), [None] * len(points)

    return limits


def _remembered(chance: Chance) -> Chance:
    """Return the same, computed once for equal losses: many candidates fall into few cells."""
    known: dict[Sequence[float], float] = {}

    def remembered(losses: Sequence[float]) -> float:
        if losses not in known:
            known[losses] = chance(losses)
        return known[losses]

    return remembered


def _refused(candidate: Candidate, landscape: Landscape) -> Refused:
    return Refused(
        config=candidate.config,
        nearest_trial=candidate.nearest.trial if candidate.nearest else None,
        estimate=candidate.estimate(landscape),
        acceptance=candidate.acceptance,
    )


BiasedRandom.presets = {
    "adaptive": BiasedRandom(),
    "thesis": BiasedRandom(acceptance=Linear(), initial=1, explore=0.0, local=0.0),
}
