"""How a dimension, or a loss, is drawn along an axis.

The search measures distances in unit coordinates. An axis takes them to what is drawn: a number on its own
linear or logarithmic scale, a choice at its place. Straight lines of the unit cube stay straight.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array, exp_each
from thiessen.figures import marks, text
from thiessen.figures.theme import MONO, Theme, axis, axis_title
from thiessen.space import Categorical, Dimension, Float, Int, Ordinal

MOST_TICKS: Final = 9
LOG_FROM: Final = 3.0  # how many times the worst loss is the best, for a logarithmic axis
LARGEST: Final = 1e120  # beyond it nothing has a place: room is left to compute with
SHELF: Final = 0.06  # of the height: above it stands what has no loss to stand at
CHOICE: Final = 12  # letters of a choice at an axis
BREADTH: Final = 0.6  # of a choice, in which its marks lie
GOLDEN: Final = 0.6180339887498949  # spreads numbers evenly, however many


@dataclass(frozen=True)
class Axis:
    """The axis of a dimension."""

    name: str
    dimension: Dimension

    @property
    def is_log(self) -> bool:
        return isinstance(self.dimension, Float | Int) and self.dimension.log

    @property
    def choices(self) -> list[str] | None:
        """The labels of its choices, None of a number."""
        if isinstance(self.dimension, Float | Int):
            return None
        return [text.name(choice, CHOICE) for choice in self.dimension.values() or ()]

    @property
    def is_ordered(self) -> bool:
        return self.dimension.ordered

    def at(self, units: Array) -> Array:
        """Return where coordinates are drawn; NaN stays NaN."""
        match self.dimension:
            case Float(log=is_log):
                low, width = self.dimension.scale
                scaled = low + units * width
                return exp_each(scaled) if is_log else scaled
            case Int(log=True):
                low, high = self.dimension.ends
                return exp_each(low + units * (high - low))
            case Int(low=low, step=step, count=count):
                return np.asarray(low + step * (units * count - 0.5))
            case Ordinal(choices=choices):
                return np.asarray(units * len(choices) - 0.5)
        return units

    def among(self, units: Array, numbers: Array) -> Array:
        """Return where marks of trials are drawn: those of one choice beside each other."""
        if self.is_ordered:
            return self.at(units)
        return self.at(units) + ((numbers * GOLDEN) % 1.0 - 0.5) * BREADTH

    def edges(self, most: int) -> list[float]:
        """Return where fields along it begin and end as drawn: one of each value, at most so many."""
        if not self.is_ordered:
            return [place - 0.5 for place in range(len(self.choices or ()) + 1)]
        values = self.dimension.values()
        many = len(values) if values is not None and len(values) < most and not self.is_log else most
        return marks.rounded(self.at(np.linspace(0, 1, (many if many > 1 else most) + 1)))

    def fields(self, units: Array, many: int) -> Array:
        """Return in which of so many fields coordinates are."""
        low, high = (0.0, 1.0) if self.is_ordered else (-0.5, many - 0.5)
        return marks.binned(units, low, high, many)

    @property
    def ends(self) -> tuple[float, float]:
        """Where it begins and ends."""
        if not self.is_ordered:
            return -0.5, len(self.choices or ()) - 0.5
        low, high = self.at(np.array([0.0, 1.0])).tolist()
        if low < high:
            return low, high
        return (low / 2, low * 2) if self.is_log else (low - 0.5, low + 0.5)

    def layout(self, theme: Theme, *, most: int = MOST_TICKS, title: bool = True, **said: Any) -> Any:
        """Return the axis for plotly."""
        low, high = self.ends
        where, told = self.ticks(most)
        is_log = self.is_log
        return axis(
            theme,
            type="log" if is_log else "linear",
            range=[math.log10(low), math.log10(high)] if is_log else [low, high],
            tickmode="array",
            tickvals=where,
            ticktext=told,
            **({"title": axis_title(theme, self.title, mono=True)} if title else {}),
            **({"tickfont": {"size": 12, "family": MONO}} if self.choices else {}),
            **said,
        )

    @property
    def title(self) -> str:
        """What stands at it."""
        return f"{text.name(self.name)} (log)" if self.is_log else text.name(self.name)

    @property
    def room(self) -> int:
        """How many pixels its labels and its name need beside it, when it is upright."""
        _, told = self.ticks()
        return 52 + round(7.5 * max(max(map(len, told), default=1), 2))

    def ticks(self, most: int = MOST_TICKS) -> tuple[list[float], list[str]]:
        """Return where ticks are drawn, and what stands there."""
        if self.choices is not None:
            places = _spread(len(self.choices), most)
            return [float(place) for place in places], [self.choices[place] for place in places]
        if isinstance(self.dimension, Int) and self.dimension.count <= most:
            first, step = self.dimension.low, self.dimension.step
            values = [float(first + step * at) for at in range(self.dimension.count)]
        else:
            is_whole = isinstance(self.dimension, Int)
            values = _nice(*self._bounds, most, is_log=self.is_log, is_whole=is_whole)
        told = [text.tick(value) for value in values]
        if not isinstance(self.dimension, Int):
            return values, told
        return self.at(np.array([self._unit(value) for value in values])).tolist(), told

    @property
    def _bounds(self) -> tuple[float, float]:
        if isinstance(self.dimension, Float | Int):
            return float(self.dimension.low), float(self.dimension.high)
        raise TypeError(f"{self.name} has choices, no bounds")

    def _unit(self, value: float) -> float:
        """Return the coordinate of a whole number, also of one that a step passes over."""
        dimension = self.dimension
        if isinstance(dimension, Int) and not dimension.log:
            return ((value - dimension.low) / dimension.step + 0.5) / dimension.count
        return dimension.encode(round(value))

    def value(self, unit: float) -> str:
        """Return the value at a coordinate in words."""
        if math.isnan(unit):
            return "inactive"
        if isinstance(self.dimension, Categorical) or not self.is_ordered:
            return (self.choices or [""])[round(unit)]
        value = self.dimension.decode(min(unit, 1.0 - 2**-53))
        return text.short(float(value)) if isinstance(value, float | int) else text.name(value, CHOICE)


@dataclass(frozen=True)
class LossAxis:
    """The axis of the user's number: logarithmic where losses differ much in size.

    What has no finite number, or one far beyond the others, stands on a shelf at the bad end.
    """

    low: float
    high: float
    is_log: bool
    good_is_low: bool = True

    @classmethod
    def of(cls, values: Array, direction: str = "minimize") -> "LossAxis":
        """Return the axis of these values, NaN among them."""
        finite = np.clip(values[np.isfinite(values)], -LARGEST, LARGEST)
        good_is_low = direction == "minimize"
        if not len(finite):
            return cls(0.0, 1.0, is_log=False, good_is_low=good_is_low)
        low, high = float(finite.min()), float(finite.max())
        if good_is_low and low > 1 / LARGEST and high / LOG_FROM > low:
            spread = min(math.log(high / low), 2.5 * math.log(_most(finite, low) / low) + 1.0)
            high = low * math.exp(spread)
            return cls(low / math.exp(0.04 * spread), high * math.exp(0.05 * spread), True, good_is_low)
        if good_is_low:
            high = min(high, low + 2.5 * (_most(finite, low) - low) + 1e-300)
        else:
            low = max(low, high - 2.5 * (_most(-finite, -high) + high) - 1e-300)
        room = 0.05 * (high - low) or 0.05 * abs(low) or 0.5
        return cls(low - room, high + room, is_log=False, good_is_low=good_is_low)

    @property
    def shelf(self) -> float:
        """Where what has no place of its own is drawn."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        where = high + SHELF * (high - low) if self.good_is_low else low - SHELF * (high - low)
        return math.exp(where) if self.is_log else where

    @property
    def range(self) -> list[float]:
        """What plotly has for its range, with room for the shelf."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        beyond = 2 * SHELF * (high - low)
        ends = [low, high + beyond] if self.good_is_low else [low - beyond, high]
        return [end / math.log(10) for end in ends] if self.is_log else ends

    def at(self, values: Array) -> Array:
        """Return where values are drawn."""
        is_off = values > self.high if self.good_is_low else values < self.low
        return np.where(np.isnan(values) | is_off, self.shelf, values)

    def beyond(self, values: Array) -> int:
        """Return how many finite values have no place of their own."""
        return int((values > self.high if self.good_is_low else values < self.low).sum())

    def fields(self, drawn: Array, many: int) -> tuple[Array, list[float]]:
        """Return in which of so many fields values are drawn, the shelf among them, and where these end."""
        ends = [self._scaled(end) for end in (self.low, self.high, self.shelf)]
        low, high = min(ends), max(ends)
        edges = np.linspace(low, high, many + 1)
        scaled = np.log(drawn) if self.is_log else drawn
        return marks.binned(scaled, low, high, many), (np.exp(edges) if self.is_log else edges).tolist()

    def layout(self, theme: Theme, **said: Any) -> Any:
        """Return the axis for plotly."""
        ticks = _nice(self.low, self.high, MOST_TICKS - 3, is_log=self.is_log, is_whole=False)
        return axis(
            theme,
            **{
                "type": "log" if self.is_log else "linear",
                "range": self.range,
                "tickmode": "array",
                "tickvals": ticks,
                "ticktext": [text.tick(value) for value in ticks],
                "showgrid": True,
                "showline": False,
                "ticks": "",
                **said,
            },
        )

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.is_log else value


def _most(losses: Array, best: float) -> float:
    """Return the loss that nine of ten are better than, above the best."""
    return max(float(np.quantile(losses, 0.9)), best)


def _spread(count: int, most: int) -> list[int]:
    """Return at most so many places, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(place) for place in np.linspace(0, count - 1, most)})


def _nice(low: float, high: float, most: int, *, is_log: bool, is_whole: bool) -> list[float]:
    """Return round numbers between two."""
    if low >= high:
        return [low]
    if is_log:
        return _log_nice(low, high, most, is_whole=is_whole)
    rough = (high - low) / (most - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    found = [float(f"{place * step:.12g}") for place in range(first, math.floor(high / step + 1e-9) + 1)]
    return [value for value in found if not is_whole or value == round(value)]


def _log_nice(low: float, high: float, most: int, *, is_whole: bool) -> list[float]:
    """Return powers of ten, with 2 and 5 times of them where few decades are shown."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found: list[float] = []
    for times in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(range(10, 100, 2))):
        scale = 0.1 if len(times) > 10 else 1.0
        values = [
            float(f"{each * scale * 10.0**power:.12g}") for power in range(first, last + 1) for each in times
        ]
        among = [
            value
            for value in values
            if low * 0.999999 <= value <= high * 1.000001 and (not is_whole or value == round(value))
        ]
        if len(among) > most and found:
            break
        found = among
        if len(found) >= min(4, most):
            break
    places = _spread(len(found), most)
    step = math.ceil(len(found) / most) if len(found) > most else 1
    return [found[place] for place in (range(0, len(found), step) if step > 1 else places)] or [low, high]
