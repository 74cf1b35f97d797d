"""Many configs at once: `Space.decode` and `Space.encode` for whole columns, with the same bits.

A config is a row of codes, one a dimension: a number stands for itself, a choice is its place among all, and
NaN marks an inactive dimension. Equal configs have equal rows, and different ones different rows, but for
whole numbers where a float is due: JSON tells 1 from 1.0.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from thiessen.elementwise import Array, exp_each, log_each, rounded_each
from thiessen.space import Boolean, Categorical, Config, Dimension, Float, Int, Ordinal, Space


class Table(NamedTuple):
    """Many configs, a row each."""

    codes: Array
    points: Array  # as `Space.encode` gives them
    has_whole_floats: Array  # of which `Columns.has_whole_floats` is true


class Columns:
    """The maps of one space."""

    def __init__(self, space: Space) -> None:
        self._space: Final = space
        dimensions = list(enumerate(space.dimensions.values()))
        floats = [at for at, each in dimensions if isinstance(each, Float)]
        log_ints = [at for at, each in dimensions if isinstance(each, Int) and each.log]
        others = [at for at, _ in dimensions if at not in {*floats, *log_ints}]
        kinds: list[tuple[type[_Maps], list[int]]] = [
            (_Floats, floats),
            (_LogInts, log_ints),
            (_Bins, others),
        ]
        self._maps = [(there, maps([dimensions[at][1] for at in there])) for maps, there in kinds if there]
        self._float_names = [name for name, each in space.dimensions.items() if isinstance(each, Float)]
        self._code_of: dict[str, Callable[[Any], float]] = {
            name: each.code if isinstance(each, Categorical | Ordinal) else float
            for name, each in space.dimensions.items()
        }
        places = {name: at for at, name in enumerate(space.dimensions)}
        self._conditions = [
            (places[name], places[parent], [space.dimensions[parent].code(value) for value in wanted])
            for name in space.parents_first
            for parent, wanted in (space.dimensions[name].when or {}).items()
        ]

    def decoded(self, units: Array) -> Array:
        """Return the codes of the configs at points of the unit cube, a row each."""
        codes = np.empty(units.shape)
        for there, maps in self._maps:
            codes[:, there] = maps.decoded(units[:, there])
        for at, parent, wanted in self._conditions:  # parents first: an inactive one has none of the values
            codes[~np.isin(codes[:, parent], wanted), at] = math.nan
        return codes

    def encoded(self, codes: Array) -> Array:
        """Return the coordinates of configs; NaN marks an inactive dimension."""
        points = np.empty(codes.shape)
        for there, maps in self._maps:
            points[:, there] = maps.encoded(codes[:, there])
        return points

    def table(self, configs: Sequence[Config]) -> Table:
        """Return many valid configs."""
        codes = np.empty((len(configs), len(self._space.dimensions)))
        has_whole_floats = np.zeros(len(configs), bool)
        try:
            for at, (name, dimension) in enumerate(self._space.dimensions.items()):
                values = [config.get(name, math.nan) for config in configs]
                codes[:, at] = _codes(dimension, values)
                if isinstance(dimension, Float) and set(map(type, values)) != {float}:
                    has_whole_floats |= np.array([type(value) is int for value in values], bool)
            points = self.encoded(codes)
        except (KeyError, TypeError, ValueError):
            for config in configs:
                self._space.encode(config)  # it tells which dimension of which is wrong
            raise
        for at in has_whole_floats.nonzero()[0].tolist():
            points[at] = self._space.encode(configs[at])  # whole numbers beyond 2**53 are rounded differently
        return Table(codes, points, has_whole_floats)

    def codes(self, config: Config) -> list[float]:
        """Return the row of one config."""
        return [code(config[name]) if name in config else math.nan for name, code in self._code_of.items()]

    def has_whole_floats(self, config: Config) -> bool:
        """Say whether a config has a whole number where a float is due, which its row does not tell."""
        return int in map(type, map(config.get, self._float_names))


def values_of(dimension: Dimension, codes: Array) -> list[Any]:
    """Return what the codes of a dimension stand for, None where it was inactive."""
    values: list[Any]
    if isinstance(dimension, Float):
        values = codes.tolist()
        return values
    inactive = np.isnan(codes)
    whole = np.where(inactive, 0, codes).astype(np.int64)
    if isinstance(dimension, Int):
        values = whole.tolist()
        return [None if absent else value for value, absent in zip(values, inactive.tolist(), strict=True)]
    choices = [*(dimension.values() or ()), None]
    return [choices[code] for code in np.where(inactive, len(choices) - 1, whole).tolist()]


class _Maps(Protocol):
    """The maps of some dimensions, whose columns stand side by side."""

    def __init__(self, dimensions: Sequence[Any]) -> None: ...

    def decoded(self, units: Array) -> Array: ...

    def encoded(self, codes: Array) -> Array: ...


class _Floats(_Maps):
    def __init__(self, dimensions: Sequence[Float]) -> None:
        self._start, self._width = np.array([each.scale for each in dimensions], float).T
        self._low = np.array([each.low for each in dimensions], float)
        self._high = np.array([each.high for each in dimensions], float)
        self._log = [at for at, each in enumerate(dimensions) if each.log]
        self._flat = self._width <= 0.0

    def decoded(self, units: Array) -> Array:
        values = self._start + units * self._width
        if self._log:
            values[:, self._log] = exp_each(values[:, self._log])
        values = rounded_each(values)
        values = np.where(self._low > values, self._low, values)
        return np.asarray(np.where(self._high < values, self._high, values))

    def encoded(self, codes: Array) -> Array:
        scaled = codes.copy()
        if self._log:
            scaled[:, self._log] = log_each(codes[:, self._log])
        if not self._flat.any():
            return np.asarray((scaled - self._start) / self._width)
        points = (scaled - self._start) / np.where(self._flat, 1.0, self._width)
        return np.where(self._flat & ~np.isnan(codes), 0.0, points)


class _LogInts(_Maps):
    def __init__(self, dimensions: Sequence[Int]) -> None:
        self._start, end = np.array([each.ends for each in dimensions]).T
        self._width = end - self._start
        self._low = np.array([each.low for each in dimensions], float)
        self._high = np.array([each.high for each in dimensions], float)

    def decoded(self, units: Array) -> Array:
        nearest = np.floor(exp_each(self._start + units * self._width) + 0.5)
        return np.asarray(np.minimum(np.maximum(nearest, self._low), self._high))

    def encoded(self, codes: Array) -> Array:
        centres = (log_each(codes - 0.5) + log_each(codes + 0.5)) / 2
        return np.asarray((centres - self._start) / self._width)


class _Bins(_Maps):
    """Equal bins: integers on a linear scale, choices with an order and without one."""

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        bins = [_bins(each) for each in dimensions]
        self._low, self._step, self._last = np.array(bins).T  # integers: some differences exceed 2**53
        self._count = np.array([last + 1 for _, _, last in bins], float)
        self._ordered = [each.ordered for each in dimensions]

    def decoded(self, units: Array) -> Array:
        places = np.minimum(np.floor(units * self._count).astype(np.int64), self._last)
        return np.asarray((self._low + self._step * places).astype(float))

    def encoded(self, codes: Array) -> Array:
        inactive = np.isnan(codes)
        values = np.where(inactive, self._low, codes).astype(np.int64)
        places = ((values - self._low) // self._step).astype(float)
        points = np.where(self._ordered, (places + 0.5) / self._count, places)
        return np.where(inactive, math.nan, points)


def _codes(dimension: Dimension, values: Sequence[Any]) -> Sequence[float]:
    """Return the codes of values, where NaN itself marks the inactive."""
    if not isinstance(dimension, Categorical | Ordinal):
        return values
    if all(isinstance(choice, str) for choice in dimension.choices):  # then equal choices are one
        codes = {choice: float(code) for code, choice in enumerate(dimension.choices)} | {math.nan: math.nan}
        return [codes[value] for value in values]
    return [
        value if isinstance(value, float) and math.isnan(value) else dimension.code(value) for value in values
    ]


def _bins(dimension: Any) -> tuple[int, int, int]:
    """Return the first code, what the next ones are further by, and how many of them follow."""
    if isinstance(dimension, Int):
        return dimension.low, dimension.step, dimension.count - 1
    return 0, 1, 1 if isinstance(dimension, Boolean) else len(dimension.choices) - 1
