"""Means over replicates, with an interval that keeps its promise for skewed losses too."""

import math
from typing import Final

import numpy as np

from thiessen.elementwise import Array

FEWEST: Final = 8  # replicates that say something of their spread
CONFIDENCE: Final = 0.95
TINY: Final = 1e-9  # a skewness that changes no digit


def mean(losses: Array) -> Array:
    """Return the mean of each column, a row for each replicate: infinite where one of them is."""
    return losses.mean(axis=0) if len(losses) else np.full(losses.shape[1], math.inf)


def band(losses: Array) -> tuple[Array, Array]:
    """Return the ends of the 95 % interval of each column's mean; NaN below 8 replicates and at infinity.

    Student's interval, seen through the cubic that takes the skewness out of the mean (Hall 1992, Journal of
    the Royal Statistical Society B 54, 221-228). The best of a search is skewed: Student's own misses
    its mean too often.
    """
    many = len(losses)
    if many < FEWEST:
        return np.full(losses.shape[1], math.nan), np.full(losses.shape[1], math.nan)
    is_finite = np.isfinite(losses).all(axis=0)
    known = np.where(is_finite, losses, 0.0)
    centre = known.mean(axis=0)
    scale = np.abs(known - centre).max(axis=0)  # so that no power overflows or vanishes
    unit = (known - centre) / np.where(scale > 0, scale, 1.0)
    deviation = np.sqrt((unit**2).mean(axis=0))
    skewness = (unit**3).mean(axis=0) / np.where(deviation > 0, deviation, 1.0) ** 3
    far = _student(many - 1) / math.sqrt(many - 1)
    low, high = (
        centre - scale * deviation * _with_skewness(side * far, skewness, many) for side in (1.0, -1.0)
    )
    return np.where(is_finite, low, math.nan), np.where(is_finite, high, math.nan)


def _with_skewness(straight: float, skewness: Array, many: int) -> Array:
    """Return the deviation that Hall's cubic makes straight, in deviations of one replicate."""
    divisor = np.where(np.abs(skewness) > TINY, skewness, 1.0)
    bent = 3 * (np.cbrt(1 + skewness * (straight - skewness / (6 * many))) - 1) / divisor
    return np.where(np.abs(skewness) > TINY, bent, straight)


def _student(freedom: int) -> float:
    """Return the quantile that Student's t exceeds on either side together with what is left of 1."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
