"""Losses as the user's values, and numbers as sentences tell them."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from thiessen.comparison.searched import Direction
from thiessen.contract import Band
from thiessen.elementwise import Array
from thiessen.figures import text

DIGITS: Final = 12


def value(loss: float, direction: Direction) -> float | None:
    """Return the value of a loss; none where it is not finite."""
    if not math.isfinite(loss):
        return None
    return loss if direction == "minimize" else 0.0 - loss


def known(number: float) -> float | None:
    """Return a number that is finite, or none."""
    return number if math.isfinite(number) else None


def computed(number: float) -> float:
    """Return what elementary functions made without its last digits, which are not those of every machine."""
    return float(f"{number:.{DIGITS}g}")


def line(at: Array, mean: Array, ends: tuple[Array, Array], direction: Direction) -> Band:
    """Return a line of losses and its interval as values."""
    low, high = ends if direction == "minimize" else (ends[1], ends[0])
    rows = ([value(computed(each), direction) for each in row.tolist()] for row in (mean, low, high))
    return Band(at=at.tolist(), **dict(zip(("mean", "low", "high"), rows, strict=True)))


def unknown(at: Array) -> tuple[Array, Array]:
    """Return the ends of intervals of which nothing is known."""
    return np.full(len(at), math.nan), np.full(len(at), math.nan)


def told(number: float) -> str:
    """Return a number in a sentence."""
    if math.isinf(number):
        return "infinity" if number > 0 else "minus infinity"
    return text.short(number)


def listed(words: Sequence[str]) -> str:
    """Return words in a row: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
