"""Local draws: configs near those that did best so far, and what to expect of them."""

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from thiessen.elementwise import Array, exp_each, log_each
from thiessen.numbers import Stream, integer_of, log, uniform_of
from thiessen.search.acceptance import SharpeningRank, merit
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
_ORDERED, _CHOICE, _ABSENT = range(3)  # how a dimension changes: what is inactive in the parent is drawn anew

Expectation = Callable[[Array | Sequence[Sequence[float]]], Array]


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


def changed_each(
    landscape: Landscape, rng: Stream, count: int
) -> tuple[list[Finished], Array, Array, list[int]]:
    """Look ahead at so many draws, each of `parent_of` and `changed` and one number more, which judges it.

    Return the parents, the points of the unit cube that are to be decoded, the numbers that judge, and how
    many words of the stream each draw ends behind. None is spent.
    """
    dimensions = list(landscape.space.dimensions.values())
    words = rng.ahead(count * (3 + 5 * len(dimensions)))
    numbers = uniform_of(words)
    read = _read_ahead(landscape, words, numbers, count)
    places = (-MEAN_PLACE * log_each(1.0 - numbers[read.starts[:-1]])).astype(np.intp)
    ranked, which = np.unique(np.minimum(places, len(landscape) - 1), return_inverse=True)
    parents = [landscape.ranked(place) for place in ranked.tolist()]
    units = np.array([parent.point for parent in parents])[which]
    for at, dimension in enumerate(dimensions):
        if not dimension.ordered:
            units[:, at] = (units[:, at] + 0.5) / len(dimension.values() or ())
    flat = units.ravel()  # a view
    flat[read.stepped] = _reflected_each(
        flat[read.stepped] + _step_each(numbers, np.array(read.steps, np.intp))
    )
    flat[read.drawn] = numbers[read.values]
    ends = read.starts[1:]
    return [parents[at] for at in which.tolist()], units, numbers[np.array(ends) - 1], ends


def expectation(landscape: Landscape) -> Expectation | None:
    """Return, for points, the share of finished trials expected to be better; None while too little is known.

    The surface goes through -ln(share), which tells the best apart the most, and falls on beyond them.
    """
    known, dimensions = len(landscape), len(landscape.space.dimensions)
    if min(known, CENTRES) < max(FEWEST, dimensions + 2):
        return None
    points, losses, ranks = landscape.leading(min(known, CENTRES))
    best, worst = landscape.rank(landscape.best), landscape.rank(landscape.ranked(known - 1).loss)
    merits = [
        0.0 if math.isnan(loss) else merit(rank, best=best, worst=worst)
        for loss, rank in zip(losses, ranks, strict=True)
    ]
    shares = [((1.0 - each) * (known - 1) + 0.5) / known for each in merits]
    surface = Surface(landscape.space, points, [-log(share) for share in shares])
    return lambda points: exp_each(-np.maximum(surface(points), 0.0))


class _Read(NamedTuple):
    """Where draws begin among the numbers of a stream, and what they make of which cells, a row a draw."""

    starts: list[int]  # and where the next one would
    stepped: list[int]  # cells that are further by a step
    steps: list[int]  # where the numbers of these begin
    drawn: list[int]  # cells that are drawn anew
    values: list[int]  # where these find their numbers


def _read_ahead(landscape: Landscape, words: Array, numbers: Array, count: int) -> _Read:
    """Read what `parent_of` and `changed` would make of the numbers, so many times."""
    starts, stepped, steps, drawn, values = read = _Read([0], [], [], [], [])
    # As bytes: looked up one by one, far faster than numbers of an array.
    is_changed, is_other = (numbers < CHANGED).tobytes(), (numbers < OTHER_CHOICE).tobytes()
    ways_at = _ways_at(landscape, numbers)
    at = cell = 0
    for _ in range(count):
        ways = ways_at(at)
        surely = cell + integer_of(words.item(at + 1), len(ways))
        at += 2
        for way in ways:
            changes = is_changed[at] or cell == surely
            at += 1
            if way == _ABSENT:
                drawn.append(cell)
                values.append(at)
                at += 1
            elif not changes:
                pass
            elif way == _ORDERED:
                stepped.append(cell)
                steps.append(at)
                at += 4
            else:
                at += 1
                if is_other[at - 1]:
                    drawn.append(cell)
                    values.append(at)
                    at += 1
            cell += 1
        at += 1
        starts.append(at)
    return read


def _ways_at(landscape: Landscape, numbers: Array) -> Callable[[int], Sequence[int]]:
    """Return what says how the dimensions change of the parent that the number there chooses."""
    space = landscape.space
    ways = [_ORDERED if dimension.ordered else _CHOICE for dimension in space.dimensions.values()]
    if not any(map(space.may_lack, space.dimensions)):
        return lambda _: ways

    def ways_at(at: int) -> Sequence[int]:
        place = int(-MEAN_PLACE * log(1.0 - numbers.item(at)))
        point = landscape.ranked(min(place, len(landscape) - 1)).point
        return [_ABSENT if math.isnan(each) else way for each, way in zip(point, ways, strict=True)]

    return ways_at


def _step(rng: Stream) -> float:
    """Return a step of any size: in the middle of about normal shape, with long tails."""
    size = rng.uniform()
    scale = SHORTEST + (LONGEST - SHORTEST) * size * size * size
    return scale * (2.0 * (rng.uniform() + rng.uniform() + rng.uniform()) - 3.0)


def _step_each(numbers: Array, first: Array) -> Array:
    """Return the steps of the numbers that begin there."""
    size = numbers[first]
    scale = SHORTEST + (LONGEST - SHORTEST) * size * size * size
    return np.asarray(scale * (2.0 * (numbers[first + 1] + numbers[first + 2] + numbers[first + 3]) - 3.0))


def _reflected(place: float) -> float:
    """Return the place inside of the bounds that a mirror at each bound shows."""
    inside = abs(place) % 2.0
    return 2.0 - inside if inside > 1.0 else inside


def _reflected_each(places: Array) -> Array:
    inside = np.abs(places) % 2.0
    return np.where(inside > 1.0, 2.0 - inside, inside)
