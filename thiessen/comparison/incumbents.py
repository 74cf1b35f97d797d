"""The best so far of a search, as a function of what it has spent."""

import math
from dataclasses import dataclass

import numpy as np

from thiessen.comparison.searched import Search
from thiessen.contract.comparisons import Unit
from thiessen.elementwise import Array


@dataclass(frozen=True, kw_only=True)
class Incumbent:
    """A step function: infinite until the first success, then the best loss of what ended in time."""

    spent: Array  # where it improves, ascending
    best: Array  # from each of these on
    trial: int | None  # that has the last of them
    total: float  # all that was spent, also beyond the budget

    @property
    def final(self) -> float:
        """The best of the whole search."""
        return float(self.best[-1]) if len(self.best) else math.inf

    def at(self, points: Array) -> Array:
        """Return the best loss when so much is spent."""
        place = np.searchsorted(self.spent, points, side="right")
        return np.concatenate([[math.inf], self.best])[place]


def incumbent(search: Search, unit: Unit, budget: float) -> Incumbent:
    """Return the best so far of a search.

    Every trial spends, whatever it came to. One that ends beyond the budget has its result too late.
    """
    losses = np.array([trial.loss for trial in search.trials], dtype=float)
    spent = np.cumsum(_spent_each(search, unit))
    so_far = np.minimum.accumulate(losses) if len(losses) else losses
    better = so_far < np.concatenate([[math.inf], so_far[:-1]])[: len(so_far)]
    improved = np.flatnonzero(better & (spent <= budget))
    return Incumbent(
        spent=spent[improved],
        best=losses[improved],
        trial=search.trials[improved[-1]].number if len(improved) else None,
        total=float(spent[-1]) if len(spent) else 0.0,
    )


def _spent_each(search: Search, unit: Unit) -> Array:
    if unit == "trials":
        return np.ones(len(search.trials))
    return np.array([getattr(trial, unit) for trial in search.trials], dtype=float)
