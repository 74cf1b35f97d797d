"""Two arms, replicate by replicate: whether one is better, by how much, and how often.

A difference is positive where the first is better. An infinite loss against a finite one is the largest of
differences, one against another a tie.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from thiessen.elementwise import Array

LEVEL: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Paired:
    """What the pairs say. What is not finite is not known as a number."""

    first_is_better: bool  # by the ranks; shown or not
    p: float
    difference: float  # the median of all means of two differences
    low: float  # of its 95 % interval
    high: float
    wins: int  # of the first
    losses: int
    ties: int

    def turned(self) -> "Paired":
        """Return what the pairs say of the second."""
        return Paired(
            first_is_better=not self.first_is_better,
            p=self.p,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            wins=self.losses,
            losses=self.wins,
            ties=self.ties,
        )


def paired(first: Array, second: Array) -> Paired:
    """Return what two arms' losses say, one of each replicate in both. At least one is needed."""
    differences = _differences(first, second)
    ranks = _doubled_ranks(np.abs(differences))
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    low, middle, high = _shift(differences)
    return Paired(
        first_is_better=bool(ranks[differences > 0].sum() >= ranks[differences < 0].sum()),
        p=signed_rank(differences),
        difference=middle,
        low=low,
        high=high,
        wins=wins,
        losses=losses,
        ties=len(differences) - wins - losses,
    )


def signed_rank(differences: Array) -> float:
    """Return the p-value, two-sided and exact, of Wilcoxon's test that nothing favours either sign.

    Equal differences share the mean of their ranks. Zeros have ranks and no sign (Pratt 1959, Journal of the
    American Statistical Association 54, 655-667): they are no evidence, and make no other stronger.
    """
    ranks = _doubled_ranks(np.abs(differences))
    signed = ranks[differences != 0]
    chances = _chances(tuple(sorted(signed.tolist())))
    smaller = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())
    return min(1.0, 2 * float(chances[: smaller + 1].sum()))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979, Scandinavian Journal of Statistics 6, 65-70)."""
    adjusted, so_far = [1.0] * len(values), 0.0
    for rank, at in enumerate(np.argsort(values, kind="stable").tolist()):
        so_far = max(so_far, min(1.0, (len(values) - rank) * values[at]))
        adjusted[at] = so_far
    return adjusted


def share(wins: int, losses: int) -> tuple[float, float] | None:
    """Return the 95 % interval of the chance to win, of Clopper and Pearson; none where nobody wins."""
    from scipy.special import betaincinv

    if wins + losses == 0:
        return None
    low = float(betaincinv(wins, losses + 1, LEVEL / 2)) if wins else 0.0
    high = float(betaincinv(wins + 1, losses, 1 - LEVEL / 2)) if losses else 1.0
    return low, high


def least_p(pairs: int) -> float:
    """Return the smallest p-value that so many pairs can have: all of one sign."""
    return min(1.0, 2.0 ** (1 - pairs))


def _differences(first: Array, second: Array) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(first == second, 0.0, second - first)


def _doubled_ranks(sizes: Array) -> Array:
    """Return twice the rank of each, the smallest 1: whole numbers, also where equal ones share a mean."""
    _, which, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (2 * ends - counts + 1)[which]


@lru_cache(maxsize=64)
def _chances(doubled: tuple[int, ...]) -> Array:
    """Return how likely each sum of ranks is, by its double, if each rank has either sign alike."""
    chances = np.zeros(sum(doubled) + 1)
    chances[0] = 1.0
    end = 1
    for rank in doubled:
        chances[rank : end + rank] += chances[:end].copy()
        chances[: end + rank] /= 2
        end += rank
    return chances


def _shift(differences: Array) -> tuple[float, float, float]:
    """Return how much better the first is, of Hodges and Lehmann, between the ends of its exact interval.

    The mean of two opposite infinite differences may be anything: it counts as the worst for each end.
    """
    rows, columns = np.triu_indices(len(differences))
    with np.errstate(invalid="ignore", over="ignore"):
        means = differences[rows] / 2 + differences[columns] / 2
        lowest, highest = (np.sort(np.where(np.isnan(means), side, means)) for side in (-math.inf, math.inf))
        beyond = _beyond(len(differences))
        low, high = (float(lowest[beyond - 1]), float(highest[-beyond])) if beyond else (-math.inf, math.inf)
        return low, float(_median(lowest) + _median(highest)) / 2, high


def _median(ordered: Array) -> float:
    lower, upper = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(lower if lower == upper else (lower + upper) / 2)


def _beyond(pairs: int) -> int:
    """Return the place, from 1 on, of the mean that begins the interval; 0 where there is none."""
    chances = _chances(tuple(2 * rank for rank in range(1, pairs + 1)))[::2]
    return int(np.searchsorted(np.cumsum(chances), LEVEL / 2, side="right"))
