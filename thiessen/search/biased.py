"""Biased random search: draw at random, and keep the draw more often where the nearest trial did well."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from thiessen.numbers import Stream
from thiessen.search.acceptance import linear
from thiessen.search.landscape import Landscape, Nearest
from thiessen.search.strategy import MAX_DRAWS, Proposal, draw, untaken
from thiessen.space import Config, Space


@dataclass(frozen=True)
class Candidate:
    """A draw not yet accepted."""

    config: Config
    nearest: Nearest | None
    acceptance: float


@dataclass(frozen=True)
class BiasedRandom:
    """Rejection sampling on the 1-nearest-neighbour landscape.

    A candidate a is drawn uniformly, its loss is estimated as that of the nearest finished trial, and it is
    kept with probability (worst - estimate) / (worst - best).
    """

    name: ClassVar[str] = "biased_random"
    version: ClassVar[int] = 1

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        del turn  # each proposal has a stream of its own
        drawn: list[Candidate] = []
        for refused in range(MAX_DRAWS):
            config = draw(space, rng)
            if landscape.is_taken(config):
                continue
            candidate = _judged(config, landscape)
            # Drawn last, so that acceptance 1 is random search exactly.
            if rng.uniform() < candidate.acceptance:
                return self._proposal(candidate, refused, landscape)
            drawn.append(candidate)
        if not drawn:
            drawn = [_judged(untaken(space, landscape, rng), landscape)]
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
            estimate=nearest.estimate if nearest and landscape.best <= landscape.worst else None,
            acceptance=candidate.acceptance,
        )


def _judged(config: Config, landscape: Landscape) -> Candidate:
    nearest = landscape.nearest(config)
    nothing_finite = landscape.best > landscape.worst
    if nearest is None or nothing_finite:
        acceptance = 1.0
    elif nearest.diverged:
        acceptance = 0.0
    else:
        acceptance = linear(nearest.estimate, best=landscape.best, worst=landscape.worst)
    return Candidate(config, nearest, acceptance)


def _chosen(drawn: list[Candidate], uniform: float) -> Candidate:
    """Return one of the candidates, each as likely as its acceptance; equally likely when all have none."""
    reached = list(accumulate(candidate.acceptance for candidate in drawn))
    if reached[-1] == 0:
        return drawn[int(uniform * len(drawn))]
    return drawn[bisect_right(reached, uniform * reached[-1], hi=len(drawn) - 1)]
