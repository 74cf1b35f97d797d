"""Differences of the same seeds by two methods, and how sure they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev


@dataclass(frozen=True)
class Difference:
    """The mean difference of pairs, with its standard error."""

    mean: float
    error: float

    @property
    def is_below(self) -> bool:
        """Whether it is below 0 by more than two standard errors."""
        return self.mean + 2 * self.error < 0

    def __str__(self) -> str:
        """Return both numbers; they are parts, and are written in percentage points."""
        return f"{100 * self.mean:+.2f} ± {100 * self.error:.2f} points"


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return how much more the first are than the second, seed by seed."""
    apart = [a - b for a, b in zip(first, second, strict=True)]
    return Difference(mean(apart), stdev(apart) / math.sqrt(len(apart)))
