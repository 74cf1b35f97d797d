"""Quasi-random search: points that leave no large gaps, whatever happened before."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Final

from thiessen.numbers import Stream, hashed
from thiessen.search.landscape import Landscape
from thiessen.search.reasons import Draw, Reasons
from thiessen.search.strategy import MAX_DRAWS, Proposal, Strategy, untaken
from thiessen.space import Space

DIGITS: Final = 32  # binary digits of a coordinate: enough for four billion turns


@dataclass(frozen=True)
class QuasiRandom(Strategy):
    """The scrambled Sobol sequence, one point a turn.

    A point that is taken is passed over for the next one. Hence all points before a turn are taken, and
    none is missed; after 256 of them it is one of the configs that remain.
    """

    name: ClassVar[str] = "quasi_random"
    version: ClassVar[int] = 1
    plans: ClassVar[bool] = True

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        points = sobol(turn, len(space.dimensions), rng.seed)
        for refused, units in enumerate(islice(points, MAX_DRAWS)):
            config = space.decode(units)
            if not landscape.is_taken(config):
                return Proposal(config, self._reasons(landscape, "quasi_random", refused))
        return Proposal(untaken(space, landscape, rng), self._reasons(landscape, "remaining", MAX_DRAWS))

    def _reasons(self, landscape: Landscape, kind: Draw, refused: int) -> Reasons:
        return Reasons(strategy=self.name, watermark=landscape.watermark, draw=kind, refused=refused)


def sobol(first: int, dimensions: int, seed: int) -> Iterator[list[float]]:
    """Yield the points of the sequence from number `first` on, scrambled by the seed."""
    from scipy.stats.qmc import Sobol

    sequence = Sobol(dimensions, scramble=False, bits=DIGITS)
    if first:
        sequence.fast_forward(first)
    while True:
        coordinates = sequence.random(1)[0]  # multiples of 2**-32, hence exact
        yield [
            (scrambled(int(coordinate * 2**DIGITS), f"sobol:{seed}:{axis}") + 0.5) / 2**DIGITS
            for axis, coordinate in enumerate(coordinates)
        ]


def scrambled(digits: int, key: str) -> int:
    """Return the digits, each flipped or not by a coin that depends on the key and the digits above it.

    This nested scrambling (Owen, 1995) makes each point uniform and keeps the balance of the sequence.
    """
    flipped = digits
    for place in range(DIGITS):
        above = digits >> place + 1
        flipped ^= (hashed(f"{key}:{place}:{above}", bits=8) % 2) << place
    return flipped
