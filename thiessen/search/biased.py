"""Biased random search: draw at random, and keep the draw more often where the nearest trial did well."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, ClassVar, Final, Literal, get_args

from thiessen.numbers import Stream
from thiessen.search.acceptance import ACCEPTANCES, Acceptance, Linear
from thiessen.search.landscape import Landscape, Nearest
from thiessen.search.reasons import LAST_REFUSED, Draw, Reasons, Refused
from thiessen.search.strategy import MAX_DRAWS, Proposal, Strategy, draw, untaken
from thiessen.space import Config, Space

# The draws of a proposal, 1, 2, 4, ... 64 at a time: most need few, and many at once cost less than half.
_ENDS: Final = (0, 1, 3, 7, 15, 31, 63, 127, 191, MAX_DRAWS)
BATCHES: Final = tuple(map(range, _ENDS, _ENDS[1:]))

Pending = Literal["ignore", "believer", "liar_mean"]


@dataclass(frozen=True)
class Candidate:
    """A draw not yet accepted."""

    config: Config
    nearest: Nearest | None
    acceptance: float

    def estimate(self, landscape: Landscape) -> float | None:
        """Return the loss expected of it, or None where nothing or nothing finite is near."""
        if self.nearest is None or self.nearest.diverged:
            return None
        return self.nearest.estimate(landscape.worst)


Judge = Callable[[Sequence[Config]], list[Candidate]]


@dataclass(frozen=True)
class BiasedRandom(Strategy):
    """Rejection sampling on the nearest-neighbour landscape.

    A candidate is drawn uniformly, its loss is estimated as that of the nearest finished trial, and it is
    kept with the probability that the acceptance makes of it: by default (worst - estimate) / (worst - best).
    """

    acceptance: Annotated[Acceptance, ACCEPTANCES] = field(default_factory=Linear)
    neighbours: int = 1  # finished trials whose mean is the estimate
    initial: int = 1  # proposals at the start that are kept without looking at any loss
    pending: Pending = "ignore"  # what a pending trial counts as: nothing, its own estimate, or the mean loss
    name: ClassVar[str] = "biased_random"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for setting, least in (("neighbours", 1), ("initial", 0)):
            if type(number := getattr(self, setting)) is not int or number < least:
                raise ValueError(
                    f"{setting} of a biased random search is a whole number from {least} on; got {number!r}."
                )
        if self.pending not in get_args(Pending):
            raise ValueError(f"pending trials are treated as {get_args(Pending)}; got {self.pending!r}.")

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        kind: Draw = "initial" if max(turn, len(landscape)) < self.initial else "uniform"
        judged = _kept if kind == "initial" or not len(landscape) else self._judge(landscape)
        drawn: list[Candidate] = []
        for numbers in BATCHES:
            draws = list(_untaken_draws(numbers, space, landscape, rng))
            candidates = judged([config for _, config, _ in draws])
            for place, (number, _, uniform) in enumerate(draws):
                if uniform < candidates[place].acceptance:
                    refused = [*drawn, *candidates[:place]]
                    return self._proposal(candidates[place], kind, number, refused, landscape)
            drawn += candidates
        if not drawn:
            remaining = judged([untaken(space, landscape, rng)])
            return self._proposal(remaining[0], "remaining", MAX_DRAWS, [], landscape)
        chosen = _chosen(drawn, rng.uniform())
        return self._proposal(chosen, kind, MAX_DRAWS, drawn, landscape)

    def _judge(self, landscape: Landscape) -> Judge:
        """Return how to judge candidates by what has finished."""
        supposed = self._supposed(landscape)

        def judged(configs: Sequence[Config]) -> list[Candidate]:
            points = [landscape.space.encode(config) for config in configs]
            each = landscape.nearest_each(points, neighbours=self.neighbours, pending=supposed)
            return [
                Candidate(config, nearest, self._acceptance(nearest, landscape))
                for config, nearest in zip(configs, each, strict=True)
            ]

        return judged

    def _acceptance(self, nearest: Nearest, landscape: Landscape) -> float:
        if landscape.best > landscape.worst:
            return 1.0  # nothing finite is known
        return self.acceptance(nearest.losses, landscape)

    def _supposed(self, landscape: Landscape) -> Mapping[int, float]:
        """Return the losses that pending trials count with."""
        if self.pending == "ignore" or not landscape.pending or landscape.best > landscape.worst:
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
        self,
        candidate: Candidate,
        kind: Draw,
        number: int,
        refused: Sequence[Candidate],
        landscape: Landscape,
    ) -> Proposal:
        """Return the candidate drawn under this number, with the reasons for it."""
        nearest = candidate.nearest
        reasons = Reasons(
            strategy=self.name,
            watermark=landscape.watermark,
            draw=kind,
            refused=number,
            last_refused=tuple(_refused(each, landscape) for each in refused[-LAST_REFUSED:]),
            forced=number == MAX_DRAWS and kind != "remaining",
            nearest_trial=nearest.trial if nearest else None,
            nearest_is_pending=nearest is not None and nearest.trial in landscape.pending,
            distance=nearest.distance if nearest else None,
            estimate=candidate.estimate(landscape),
            neighbourhood=len(nearest.losses) if nearest else 1,
            acceptance=candidate.acceptance,
        )
        return Proposal(candidate.config, reasons)


def _untaken_draws(
    numbers: range, space: Space, landscape: Landscape, rng: Stream
) -> Iterator[tuple[int, Config, float]]:
    """Return what is drawn under these numbers: a config and the number that keeps or refuses it."""
    for number in numbers:
        config = draw(space, rng)
        if not landscape.is_taken(config):
            # Drawn last, so that acceptance 1 is random search exactly.
            yield number, config, rng.uniform()


def _kept(configs: Sequence[Config]) -> list[Candidate]:
    """Judge nothing: every candidate is kept."""
    return [Candidate(config, None, 1.0) for config in configs]


def _refused(candidate: Candidate, landscape: Landscape) -> Refused:
    return Refused(
        config=candidate.config,
        nearest_trial=candidate.nearest.trial if candidate.nearest else None,
        estimate=candidate.estimate(landscape),
        acceptance=candidate.acceptance,
    )


def _chosen(drawn: list[Candidate], uniform: float) -> Candidate:
    """Return one of the candidates, each as likely as its acceptance; equally likely when all have none."""
    reached = list(accumulate(candidate.acceptance for candidate in drawn))
    if reached[-1] == 0:
        return drawn[int(uniform * len(drawn))]
    return drawn[bisect_right(reached, uniform * reached[-1], hi=len(drawn) - 1)]
