"""Biased random search: draw at random, and keep the draw more often where the nearest trial did well."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Final

from thiessen.numbers import Stream
from thiessen.search.acceptance import linear
from thiessen.search.landscape import Landscape, Nearest
from thiessen.search.strategy import MAX_DRAWS, Proposal, Strategy, draw, untaken
from thiessen.space import Config, Space

# The draws of a proposal, 1, 2, 4, ... 64 at a time: most need few, and many at once cost less than half.
_ENDS: Final = (0, 1, 3, 7, 15, 31, 63, 127, 191, MAX_DRAWS)
BATCHES: Final = tuple(map(range, _ENDS, _ENDS[1:]))


@dataclass(frozen=True)
class Candidate:
    """A draw not yet accepted."""

    config: Config
    nearest: Nearest | None
    acceptance: float


@dataclass(frozen=True)
class BiasedRandom(Strategy):
    """Rejection sampling on the 1-nearest-neighbour landscape.

    A candidate a is drawn uniformly, its loss is estimated as that of the nearest finished trial, and it is
    kept with probability (worst - estimate) / (worst - best).
    """

    name: ClassVar[str] = "biased_random"
    version: ClassVar[int] = 1

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        del turn  # each proposal has a stream of its own
        drawn: list[Candidate] = []
        for numbers in BATCHES:
            draws = list(_untaken_draws(numbers, space, landscape, rng))
            judged = _judged([config for _, config, _ in draws], landscape)
            for (refused, _, uniform), candidate in zip(draws, judged, strict=True):
                if uniform < candidate.acceptance:
                    return self._proposal(candidate, refused, landscape)
            drawn += judged
        if not drawn:
            drawn = _judged([untaken(space, landscape, rng)], landscape)
        return self._proposal(_chosen(drawn, rng.uniform()), MAX_DRAWS, landscape)

    def _proposal(self, candidate: Candidate, refused: int, landscape: Landscape) -> Proposal:
        nearest = candidate.nearest
        return Proposal(
            config=candidate.config,
            strategy=self.name,
            watermark=landscape.watermark,
            refused=refused,
            nearest_trial=nearest.trial if nearest else None,
            distance=nearest.distance if nearest else None,
            estimate=nearest.estimate(landscape.worst)
            if nearest and landscape.best <= landscape.worst
            else None,
            acceptance=candidate.acceptance,
        )


def _untaken_draws(
    numbers: range, space: Space, landscape: Landscape, rng: Stream
) -> Iterator[tuple[int, Config, float]]:
    """Return what is drawn under these numbers: a config and the number that keeps or refuses it."""
    for number in numbers:
        config = draw(space, rng)
        if not landscape.is_taken(config):
            # Drawn last, so that acceptance 1 is random search exactly.
            yield number, config, rng.uniform()


def _judged(configs: Sequence[Config], landscape: Landscape) -> list[Candidate]:
    if not len(landscape):
        return [Candidate(config, None, 1.0) for config in configs]
    points = [landscape.space.encode(config) for config in configs]
    each = landscape.nearest_each(points)
    return [
        Candidate(config, nearest, _acceptance(nearest, landscape))
        for config, nearest in zip(configs, each, strict=True)
    ]


def _acceptance(nearest: Nearest, landscape: Landscape) -> float:
    if landscape.best > landscape.worst:
        return 1.0  # nothing finite is known
    if nearest.diverged:
        return 0.0
    return linear(nearest.estimate(landscape.worst), best=landscape.best, worst=landscape.worst)


def _chosen(drawn: list[Candidate], uniform: float) -> Candidate:
    """Return one of the candidates, each as likely as its acceptance; equally likely when all have none."""
    reached = list(accumulate(candidate.acceptance for candidate in drawn))
    if reached[-1] == 0:
        return drawn[int(uniform * len(drawn))]
    return drawn[bisect_right(reached, uniform * reached[-1], hi=len(drawn) - 1)]
