"""Grid search: every combination of a few levels of each dimension, each exactly once."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Final, Literal, get_args

from thiessen.numbers import Stream, hashed
from thiessen.search.landscape import Landscape
from thiessen.search.reasons import Reasons
from thiessen.search.strategy import Exhausted, Proposal, Strategy, StrategyError
from thiessen.space import Config, Dimension, Float, Int, Scalar, Space, config_key

GridOrder = Literal["row_major", "shuffled", "coarse_to_fine"]

USUAL_LEVELS: Final = 10  # of an ordered dimension without a number of its own
MOST_STATES: Final = 50_000  # combinations of conditions told apart while counting: seconds, not hours
ROUNDS: Final = 64  # of the shuffle: a position is then uniform but for a share of 2**-64


@dataclass(frozen=True)
class Grid(Strategy):
    """Grid search: the point of a turn depends on the space, the turn and what is taken, not on any loss.

    A float has evenly spaced levels on its own scale, the bounds included, or the midpoint when it has
    one. Integers and ordinals have all their values when those are no more than their levels, else as
    many, evenly spread. Categoricals and booleans have every value.
    """

    levels: int | Mapping[str, int] | None = None
    order: GridOrder = "row_major"
    name: ClassVar[str] = "grid"
    version: ClassVar[int] = 1
    plans: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.order not in get_args(GridOrder):
            raise ValueError(f"the order of a grid is one of {get_args(GridOrder)}; got {self.order!r}.")
        for levels in self._numbers():
            if type(levels) is not int or levels < 1:
                raise ValueError(
                    f"a dimension of a grid has 1 level or more, a whole number; got {levels!r}."
                )

    @classmethod
    def for_budget(cls, space: Space, max_trials: int, order: GridOrder = "row_major") -> "Grid":
        """Return the grid with the most levels, as many in each dimension, that fits into the budget.

        For d continuous dimensions these are the whole part of the d-th root of the budget. If not even
        one level each fits, because the choices alone are more, it is one level.
        """
        fitting = bisect_right(range(1, max_trials + 1), max_trials, key=lambda n: cls(n).size(space))
        return cls(max(fitting, 1), order)

    def size(self, space: Space) -> int:
        """Return the number of points. Raises StrategyError when the levels do not suit the space."""
        return self._points(space).size

    def settled(self, space: Space, max_trials: int) -> "Grid":
        """Return the grid of this study: without levels, the finest that fits. Raises StrategyError."""
        if self.levels is None:
            return Grid.for_budget(space, max_trials, self.order)
        self.size(space)
        return self

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        # Every proposal is the first point from its turn on that was not taken. Hence all points before a
        # turn are taken, whoever took them, so none is missed; a turn stored twice is the store's to refuse.
        points = self._points(space)
        for index in range(turn, points.size):
            config = points.at(self._place(points, index, rng.seed))
            if not landscape.is_taken(config):
                reasons = Reasons(
                    strategy=self.name, watermark=landscape.watermark, draw="grid", refused=index - turn
                )
                return Proposal(config, reasons)
        raise Exhausted

    def _place(self, points: "_Points", index: int, seed: int) -> int:
        if self.order == "row_major":
            return index
        begin, end = points.stage(index)
        return begin + permuted(index - begin, end - begin, f"grid:{seed}:{begin}")

    def _points(self, space: Space) -> "_Points":
        if isinstance(self.levels, Mapping):
            for name in self.levels:
                if name not in space.dimensions:
                    raise StrategyError(
                        f"grid.levels: {name!r} has levels but is no dimension; "
                        f"this space has {list(space.dimensions)}."
                    )
                if not space.dimensions[name].ordered:
                    raise StrategyError(
                        f"grid.levels: of dimension {name!r} all values are tried; leave it out."
                    )
        axes = {name: self._axis(name, dimension) for name, dimension in space.dimensions.items()}
        return _Points(space, axes)

    def _axis(self, name: str, dimension: Dimension) -> "_Axis":
        levels = self.levels.get(name, USUAL_LEVELS) if isinstance(self.levels, Mapping) else self.levels
        wanted = levels or USUAL_LEVELS
        values = dimension.values()
        size = wanted if values is None or (dimension.ordered and len(values) > wanted) else len(values)
        return _Axis(dimension, size, refines=dimension.ordered and self.order == "coarse_to_fine")

    def _numbers(self) -> list[int]:
        if isinstance(self.levels, Mapping):
            return list(self.levels.values())
        return [] if self.levels is None else [self.levels]


def permuted(index: int, size: int, key: str) -> int:
    """Return where a shuffle of `size` places, given by its key, puts an index; nothing is stored.

    The swap-or-not shuffle of Hoang, Morris & Rogaway (2012): each round pairs the places that add up to a
    random number, and a coin of the pair swaps it or not.
    """
    for swap in range(ROUNDS):
        partner = (hashed(f"{key}:{swap}", bits=size.bit_length() + 64) - index) % size
        if hashed(f"{key}:{swap}:{max(index, partner)}", bits=8) % 2:
            index = partner
    return index


@dataclass(frozen=True)
class _Axis:
    """The levels of one dimension, in its order."""

    dimension: Dimension
    size: int
    refines: bool  # whether they come in stages, each halving the gaps of the one before

    @property
    def stages(self) -> int:
        return (self.size // 2).bit_length() + 1 if self.refines else 1

    def added(self, stage: int) -> range:
        """Return which levels a stage adds: first the middle one, then those halfway between the known."""
        if not self.refines:
            return range(self.size if stage == 0 else 0)
        middle = self.size // 2
        if stage == 0:
            return range(middle, middle + 1)
        if stage >= self.stages:
            return range(0)
        gap = 1 << (self.stages - stage)  # between the levels known before
        return range((middle + gap // 2) % gap, self.size, gap)

    def level(self, position: int) -> Scalar:
        """Return the level at a position: the value at (position / (size - 1)) of the scale."""
        values = self.dimension.values() or ()  # nothing stands for a continuum
        if len(values) == self.size:
            return values[position]
        part, whole = (position, self.size - 1) if self.size > 1 else (1, 2)
        if isinstance(self.dimension, Float):
            return _level_of_a_float(self.dimension, part, whole)
        if isinstance(self.dimension, Int) and self.dimension.log:
            scale = Float(self.dimension.low, self.dimension.high, log=True)
            # Where the scale is denser than the integers, they follow one another: each level is another.
            return max(self.dimension.low + position, int(_level_of_a_float(scale, part, whole) + 0.5))
        return values[(2 * part * (len(values) - 1) + whole) // (2 * whole)]


def _level_of_a_float(dimension: Float, part: int, whole: int) -> float:
    if part in {0, whole}:
        return float(dimension.high if part else dimension.low)  # exactly, whatever its digits
    return dimension.decode(part / whole)


class _Points:
    """The points of a grid, counted and found by number without listing them.

    The dimensions are decided one after the other, each soon after those that its condition names. The
    number of ways to go on then depends only on which of the dimensions to come are inactive already.
    """

    def __init__(self, space: Space, axes: Mapping[str, _Axis]) -> None:
        self._space = space
        self._axes = axes
        self._children = {
            name: {child for child, other in space.dimensions.items() if name in (other.when or {})}
            for name in space.dimensions
        }
        self._order = _children_soon(space, self._children)
        self._lost = {name: self._lost_at(name) for name, children in self._children.items() if children}
        self._counts: dict[tuple[int, frozenset[str], int], int] = {}
        stages = max(axis.stages for axis in axes.values())
        self._ends = [0, *(self._count(0, frozenset(), stage) for stage in range(stages))]
        self.size = self._ends[-1]

    def stage(self, index: int) -> tuple[int, int]:
        """Return the first index of the stage that this one belongs to, and that of the next stage."""
        after = bisect_right(self._ends, index)
        return self._ends[after - 1], self._ends[after]

    def at(self, index: int) -> Config:
        """Return a point by its number: stage after stage, in each the last dimension changes first."""
        last = bisect_right(self._ends, index) - 1
        index -= self._ends[last]
        config: Config = {}
        inactive: frozenset[str] = frozenset()
        reached = last == 0  # a point belongs to the last of the stages of its levels
        for place, name in enumerate(self._order, start=1):
            if name in inactive:
                inactive = self._inherited(name, inactive)
                continue
            for stage, positions, lost in self._options(name, last):
                fulfils = reached or stage == last
                ways = self._count(place, inactive | lost, last)
                ways -= 0 if fulfils else self._count(place, inactive | lost, last - 1)
                if index < ways * len(positions):
                    config[name] = self._axes[name].level(positions[index // ways])
                    index, inactive, reached = index % ways, inactive | lost, fulfils
                    break
                index -= ways * len(positions)
        return {name: config[name] for name in self._space.dimensions if name in config}

    def _count(self, place: int, inactive: frozenset[str], last: int) -> int:
        """Return how many ways there are to decide the dimensions from `place` on, up to the last stage."""
        if place == len(self._order):
            return 1
        key = place, inactive, last
        if key not in self._counts:
            if len(self._counts) >= MOST_STATES:
                raise StrategyError(
                    "the conditions of this space hang together too much to count the points of a grid; "
                    "use another strategy, or conditions that name fewer dimensions."
                )
            name = self._order[place]
            ways = 0
            if name in inactive:
                ways = self._count(place + 1, self._inherited(name, inactive), last)
            else:
                for _, positions, lost in self._options(name, last):
                    ways += len(positions) * self._count(place + 1, inactive | lost, last)
            self._counts[key] = ways
        return self._counts[key]

    def _inherited(self, name: str, inactive: frozenset[str]) -> frozenset[str]:
        """Return what is inactive after an inactive dimension: its children too."""
        return (inactive - {name}) | self._children[name]

    def _options(self, name: str, last: int) -> Iterator[tuple[int, range, frozenset[str]]]:
        """Yield stages, levels in a row that they add, and the children that these make inactive."""
        for stage in range(last + 1):
            added = self._axes[name].added(stage)
            if not self._children[name]:
                yield stage, added, frozenset()
                continue
            begin = 0
            for lost, same in groupby(self._lost[name][position] for position in added):
                end = begin + len(list(same))
                yield stage, added[begin:end], lost
                begin = end

    def _lost_at(self, name: str) -> list[frozenset[str]]:
        """Return the children that each level of a dimension makes inactive."""
        wanted = {
            child: {config_key({name: value}) for value in (self._space.dimensions[child].when or {})[name]}
            for child in self._children[name]
        }
        keys = [config_key({name: self._axes[name].level(place)}) for place in range(self._axes[name].size)]
        each = (frozenset(child for child in wanted if key not in wanted[child]) for key in keys)
        distinct: dict[frozenset[str], frozenset[str]] = {}  # few, even of 10,000 levels
        return [distinct.setdefault(lost, lost) for lost in each]


def _children_soon(space: Space, children: Mapping[str, Collection[str]]) -> list[str]:
    """Return the dimensions in declared order, but each as soon as all that its condition names are there."""
    order: list[str] = []

    def place(name: str) -> None:
        order.append(name)
        for child in space.dimensions:
            if child in children[name] and set(space.dimensions[child].when or {}) <= set(order):
                place(child)

    for name, dimension in space.dimensions.items():
        if not dimension.when:
            place(name)
    return order
