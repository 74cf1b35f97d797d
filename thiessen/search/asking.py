"""What a trial of an open study asks for, and what it is given.

The strategy proposes a value for each dimension that is known. The program asks for what it needs: it is
given what was proposed where that fits, and else a draw that depends on nothing but the trial's seed and the
name. So what was given can be computed again.
"""

from collections.abc import Mapping

from thiessen.numbers import Stream, hashed
from thiessen.search.landscape import Landscape
from thiessen.search.reasons import Reasons
from thiessen.search.strategy import MAX_DRAWS, Exhausted, Proposal, Strategy, draw
from thiessen.space import AskedFor, Config, Dimension, OpenSpace, Scalar, Space, SpaceError


def proposed(strategy: Strategy, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
    """Return what a strategy proposes; nothing while no dimension is known. Raises Exhausted.

    An open space is never exhausted: its program may ask for more.
    """
    space, watermark = landscape.space, landscape.watermark
    if not space.dimensions:
        return Proposal({}, Reasons(strategy=strategy.name, watermark=watermark, draw="initial"))
    try:
        return strategy.propose(space, landscape, turn, rng)
    except Exhausted:
        if not space.is_open:
            raise
    again = Reasons(strategy=strategy.name, watermark=watermark, draw="uniform", refused=MAX_DRAWS)
    return Proposal(draw(space, rng), again)


def drawn(seed: int, name: str, dimension: Dimension) -> Scalar:
    """Return a value at random, the same for the same seed of a trial, name and dimension."""
    return draw(Space(**{name: dimension}), Stream(seed, hashed(name, bits=64)))[name]


class Asking:
    """What one trial has asked for so far."""

    def __init__(self, start: Config, seed: int, known: OpenSpace | None = None) -> None:
        self.config: Config = {}
        self.dimensions: dict[str, Dimension] = {}  # as asked
        self._start = start  # what was proposed, or enqueued
        self._seed = seed
        self._known = known or OpenSpace()

    @property
    def asked(self) -> AskedFor:
        return AskedFor(config=dict(self.config), dimensions=dict(self.dimensions))

    def value(self, name: str, dimension: Dimension) -> Scalar:
        """Return the value for a name. Raises SpaceError where it is known as something else."""
        if name not in self.config:
            self._known = self._known.holding({name: dimension})
            self.dimensions[name] = dimension
            self.config[name] = self._given(name, dimension)
        elif self.dimensions[name] != dimension:
            raise SpaceError(
                f"this trial has asked for {name!r} as {self.dimensions[name]}, and asks again as "
                f"{dimension}. A trial has one value for a name: give the other another name."
            )
        return self.config[name]

    def _given(self, name: str, dimension: Dimension) -> Scalar:
        if name in self._start and dimension.refusal(self._start[name]) is None:
            return self._start[name]
        return drawn(self._seed, name, dimension)


def asked_again(start: Config, seed: int, dimensions: Mapping[str, Dimension]) -> Config:
    """Return the config of a trial that began with `start` and asked for these dimensions."""
    asking = Asking(start, seed)
    for name, dimension in dimensions.items():
        asking.value(name, dimension)
    return asking.config
