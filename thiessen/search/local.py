"""Local draws: configs near those that did best so far, and what to expect of them."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from thiessen.numbers import Stream, exp, log
from thiessen.search.acceptance import Rank, SharpeningRank
from thiessen.search.landscape import Finished, Landscape
from thiessen.search.surface import Surface
from thiessen.space import Config, Space

# Tuned on half of the tasks of benchmarks/search; most matter little between half and twice of what they are.
MEAN_PLACE: Final = 2.0  # in the ranking, of the config that is changed
CHANGED: Final = 0.8  # the probability that a dimension is changed; one always is
OTHER_CHOICE: Final = 0.5  # the probability that a change of a choice without an order draws it again
SHORTEST, LONGEST = 0.01, 0.5  # steps, in parts of the range of a dimension
CENTRES: Final = 64  # trials, the best ones, that the surface goes through
FEWEST: Final = 6  # trials that make a surface

ACCEPTANCE: Final = SharpeningRank(trials=0.3)
Expectation = Callable[[Sequence[Sequence[float]]], list[float]]


def parent_of(landscape: Landscape, rng: Stream) -> Finished:
    """Return a trial, the better the likelier; one that diverged too, as a huge loss would be."""
    place = int(-MEAN_PLACE * log(1.0 - rng.uniform()))
    return landscape.ranked(min(place, len(landscape) - 1))


def changed(parent: Finished, space: Space, rng: Stream) -> Config:
    """Return a config in the neighbourhood of the parent's, in some dimensions nearer than in others."""
    dimensions = space.dimensions.values()
    surely = rng.integer(len(dimensions))
    units = []
    for at, (dimension, place) in enumerate(zip(dimensions, parent.point, strict=True)):
        is_changed = rng.uniform() < CHANGED or at == surely
        if math.isnan(place):  # inactive in the parent
            units.append(rng.uniform())
        elif dimension.ordered:
            units.append(_reflected(place + _step(rng)) if is_changed else place)
        elif is_changed and rng.uniform() < OTHER_CHOICE:
            units.append(rng.uniform())
        else:
            units.append((place + 0.5) / len(dimension.values() or ()))
    return space.decode(units)


def expectation(landscape: Landscape) -> Expectation | None:
    """Return, for points, the share of finished trials expected to be better; None while too little is known.

    The surface goes through -ln(share), which tells the best apart the most, and falls on beyond them.
    """
    known, dimensions = len(landscape), len(landscape.space.dimensions)
    if min(known, CENTRES) < max(FEWEST, dimensions + 2):
        return None
    merit = Rank()(landscape)
    centres = [landscape.ranked(place) for place in range(min(known, CENTRES))]
    shares = [((1.0 - merit([centre.loss])) * (known - 1) + 0.5) / known for centre in centres]
    surface = Surface(
        landscape.space, [centre.point for centre in centres], [-log(share) for share in shares]
    )
    return lambda points: [exp(-max(height, 0.0)) for height in surface(points)]


def _step(rng: Stream) -> float:
    """Return a step of any size: in the middle of about normal shape, with long tails."""
    size = rng.uniform()
    scale = SHORTEST + (LONGEST - SHORTEST) * size * size * size
    return scale * (2.0 * (rng.uniform() + rng.uniform() + rng.uniform()) - 3.0)


def _reflected(place: float) -> float:
    """Return the place inside of the bounds that a mirror at each bound shows."""
    inside = abs(place) % 2.0
    return 2.0 - inside if inside > 1.0 else inside
