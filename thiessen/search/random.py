"""Random search: every config equally likely on the declared scales, whatever happened before."""

from dataclasses import dataclass
from typing import ClassVar

from thiessen.numbers import Stream
from thiessen.search.landscape import Landscape
from thiessen.search.reasons import Draw, Reasons
from thiessen.search.strategy import MAX_DRAWS, Proposal, Strategy, draw, untaken
from thiessen.space import Space


@dataclass(frozen=True)
class Random(Strategy):
    """Random search without repeats."""

    name: ClassVar[str] = "random"
    version: ClassVar[int] = 1

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        del turn  # each proposal has a stream of its own
        for refused in range(MAX_DRAWS):
            candidate = draw(space, rng)
            if not landscape.is_taken(candidate):
                return Proposal(candidate, self._reasons(landscape, "uniform", refused))
        return Proposal(untaken(space, landscape, rng), self._reasons(landscape, "remaining", MAX_DRAWS))

    def _reasons(self, landscape: Landscape, kind: Draw, refused: int) -> Reasons:
        return Reasons(strategy=self.name, watermark=landscape.watermark, draw=kind, refused=refused)
