"""The expected best of n out of all independent random trials: each subset of n counts alike."""

import math
from collections.abc import Sequence

import numpy as np

from thiessen.elementwise import Array


def expected_best(losses: Array, counts: Sequence[int]) -> Array:
    """Return the mean over all subsets of the smallest loss in them, for each size of a subset.

    It is the one estimator of the expected best of n that is unbiased whatever the losses are distributed
    like. Infinite where some subset has no finite loss. Raises ValueError for a size that there is not.
    """
    if counts and not 1 <= min(counts) <= max(counts) <= len(losses):
        raise ValueError(f"there are subsets of 1 to {len(losses)} trials; got {counts}.")
    ordered = np.sort(losses)
    finite = ordered[np.isfinite(ordered)]
    missing = len(ordered) - len(finite)
    return np.array([math.inf if missing >= n else _mean_of_best(finite, len(ordered), n) for n in counts])


def _mean_of_best(finite: Array, many: int, n: int) -> float:
    """Return it: the loss of rank i, from 0 on, is the best of C(many - 1 - i, n - 1) of the subsets.

    There are C(many, n) of them. The share of a rank is that of the rank before, times (many - i - n + 1) /
    (many - i).
    """
    rank = np.arange(1, len(finite))
    ratios = np.maximum(many - rank - n + 1, 0) / (many - rank)
    shares = (n / many) * np.cumprod(np.concatenate([[1.0], ratios]))
    return float((shares * finite).sum())
