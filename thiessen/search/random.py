"""Random search: every config equally likely on the declared scales, whatever happened before."""

from dataclasses import dataclass
from typing import ClassVar

from thiessen.numbers import Stream
from thiessen.search.landscape import Landscape
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
                return Proposal(
                    config=candidate, strategy=self.name, watermark=landscape.watermark, refused=refused
                )
        return Proposal(
            config=untaken(space, landscape, rng),
            strategy=self.name,
            watermark=landscape.watermark,
            refused=MAX_DRAWS,
        )
