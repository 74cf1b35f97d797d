"""Random-equivalent trials: how many random trials find as good a config as a method found in n.

With F the share of a space that is better than the incumbent, the best of N random trials has
E(-ln F) = H_N = 1 + 1/2 + ... + 1/N. So -ln F is averaged over runs and tasks, and N is read off. A loss
enters by its rank in the space only: every increasing transform of it gives the same score.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

EULER = 0.57721566490153286
Curves = Mapping[str, np.ndarray]  # task -> -ln F, indexed by [repetition, results known - 1]
RESAMPLES = 4000
INTERVAL = (2.5, 97.5)  # percentiles


def depth(better: float, better_or_equal: float, capped_at: float = 0.0) -> float:
    """Return -ln F, averaged over the ranks that a tie leaves open; F counts as `capped_at` at least.

    >>> round(depth(0.0, 1.0), 12)  # a config as good as all others: one random trial, H_1
    1.0
    """
    low, high = max(better, capped_at), max(better_or_equal, capped_at)
    inside = (_integral(high) - _integral(low)) / (better_or_equal - better)
    capped = max(min(better_or_equal, capped_at) - better, 0.0) / (better_or_equal - better)
    return inside + (capped * -math.log(capped_at) if capped else 0.0)


def curve(incumbents: Sequence[Sequence[float]], budget: int, capped_at: float = 0.0) -> np.ndarray:
    """Return -ln F of the incumbent after 1, 2, ... results; 0 as long as there is none."""
    depths = np.zeros(budget)
    for known, better, better_or_equal in incumbents:
        depths[int(known) - 1 :] = depth(better, better_or_equal, capped_at)
    return depths


def curves(runs: Sequence[Mapping[str, Any]], budget: int, capped_at: float = 0.0) -> dict[str, np.ndarray]:
    """Return the curves of runs by task."""
    by_task: dict[str, list[np.ndarray]] = {}
    for run in runs:
        by_task.setdefault(run["task"], []).append(curve(run["incumbents"], budget, capped_at))
    return {task: np.stack(found) for task, found in by_task.items()}


def harmonic(trials: float) -> float:
    """Return H_N, continued between the integers: digamma(N + 1) + Euler's constant."""
    total, at = 0.0, trials + 1.0
    while at < 10:
        total, at = total - 1 / at, at + 1
    return (
        total + EULER + math.log(at) - 1 / (2 * at) - 1 / (12 * at**2) + 1 / (120 * at**4) - 1 / (252 * at**6)
    )


def random_equivalent(pooled: float) -> float:
    """Return the N with H_N = `pooled`."""
    low, high = 0.0, math.exp(pooled) + 1  # H_N > ln N
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if harmonic(middle) < pooled else (low, middle)
    return (low + high) / 2


def pooled(found: Curves) -> np.ndarray:
    """Return the mean curve: over repetitions, then over tasks, each task counting once."""
    return np.mean([repetitions.mean(axis=0) for repetitions in found.values()], axis=0)


def ret(found: Curves, n: int) -> float:
    """Return the random-equivalent trials after n."""
    return random_equivalent(float(pooled(found)[n - 1]))


def standard_error(found: Curves, n: int) -> float:
    """Return the standard error of `ret` over repetitions, the tasks kept as they are."""
    variances = [
        repetitions[:, n - 1].var(ddof=1) / len(repetitions)
        for repetitions in found.values()
        if len(repetitions) > 1
    ]
    if len(variances) < len(found):
        return math.nan
    error = math.sqrt(sum(variances)) / len(found)
    middle = float(pooled(found)[n - 1])
    return random_equivalent(middle + error) - random_equivalent(middle)


def ratio(ours: Curves, peers: Curves, n: int) -> tuple[float, float, float]:
    """Return how many times our RET is the peer's, and the interval of it when tasks are drawn again."""
    first, second = (_by_task(found, n) for found in (ours, _same_tasks(ours, peers)))
    drawn = _resampled(len(first))
    ratios = [
        random_equivalent(a) / random_equivalent(b)
        for a, b in zip(first[drawn].mean(1), second[drawn].mean(1), strict=True)
    ]
    low, high = np.percentile(ratios, INTERVAL)
    return ret(ours, n) / ret(peers, n), float(low), float(high)


def interval(found: Curves, n: int) -> tuple[float, float]:
    """Return the interval of `ret` when tasks are drawn again."""
    means = _by_task(found, n)
    low, high = np.percentile(means[_resampled(len(means))].mean(1), INTERVAL)
    return random_equivalent(float(low)), random_equivalent(float(high))


def trials_to_reach(ours: Curves, goal: float) -> float:
    """Return after how many trials the pooled curve is at `goal`; inf when it never is."""
    reached = np.flatnonzero(pooled(ours) >= goal - 1e-12)
    return float(reached[0] + 1) if len(reached) else math.inf


def outside(runs: Sequence[Mapping[str, Any]], share: float, n: int) -> float:
    """Return the fraction of runs whose incumbent after n is not among the best `share` of its space."""
    missed = 0
    for run in runs:
        known = [incumbent for incumbent in run["incumbents"] if incumbent[0] <= n]
        missed += not known or known[-1][1] >= share
    return missed / len(runs)


def _integral(at: float) -> float:
    """Return the integral of -ln x from 0 to `at`."""
    return at - at * math.log(at) if at > 0 else 0.0


def _by_task(found: Curves, n: int) -> np.ndarray:
    return np.array([found[task][:, n - 1].mean() for task in sorted(found)])


def _same_tasks(ours: Curves, peers: Curves) -> Curves:
    if set(ours) != set(peers):
        raise ValueError(f"not the same tasks: {sorted(set(ours) ^ set(peers))}; run what is missing.")
    return peers


def _resampled(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
