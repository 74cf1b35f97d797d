"""Searches whose losses are made up: what `benchmarks/comparison_coverage` and its test judge statistics on.

Each function draws the losses of the trials of many searches, a row for each search.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

Losses = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, int, int], Losses]

AROUND: Final = 0.3  # where the bowls have their lowest point, in each dimension
LOCAL: Final = 0.8  # the share of the trials of an adaptive search that change its best


def bowl(dimensions: int, noise: float = 0.0) -> Draw:
    """Return random search on a bowl: near its lowest point, losses are as those of a smooth task."""

    def draw(random: np.random.Generator, many: int, trials: int) -> Losses:
        squares = np.zeros((many, trials))
        for _ in range(dimensions):
            squares += (random.random((many, trials)) - AROUND) ** 2
        return squares + noise * random.normal(size=(many, trials))

    return draw


def skewed(random: np.random.Generator, many: int, trials: int) -> Losses:
    """Return random search where most configs are mediocre and some very bad."""
    return random.lognormal(size=(many, trials))


def orders(random: np.random.Generator, many: int, trials: int) -> Losses:
    """Return random search on a loss that is told as its logarithm: without end towards the good side."""
    return np.log(bowl(4)(random, many, trials))


def diverging(random: np.random.Generator, many: int, trials: int) -> Losses:
    """Return random search where a third of the trials diverge."""
    losses = skewed(random, many, trials)
    return np.where(random.random((many, trials)) < 1 / 3, np.inf, losses)


def adaptive(noise: float) -> Draw:
    """Return searches of a noisy bowl of three dimensions that mostly change what was best so far."""

    def told(random: np.random.Generator, points: Losses) -> Losses:
        return ((points - AROUND) ** 2).sum(axis=1) + noise * random.normal(size=len(points))

    def draw(random: np.random.Generator, many: int, trials: int) -> Losses:
        best = random.random((many, 3))
        losses = [told(random, best)]
        least = losses[0]
        for _ in range(trials - 1):
            near = np.clip(best + 0.15 * random.normal(size=best.shape), 0, 1)
            is_local = random.random((many, 1)) < LOCAL
            tried = np.where(is_local, near, random.random(best.shape))
            losses.append(told(random, tried))
            best = np.where((losses[-1] < least)[:, None], tried, best)
            least = np.minimum(losses[-1], least)
        return np.stack(losses, axis=1)

    return draw


def error_rates(random: np.random.Generator, many: int, trials: int) -> Losses:
    """Return random search judged by wrong answers among 300: many of the losses are equal."""
    rate = 0.05 + np.minimum(bowl(3)(random, many, trials), 0.9)
    return random.binomial(300, rate) / 300


def stuck(random: np.random.Generator, many: int, trials: int) -> Losses:
    """Return searches of which every fifth never leaves a bad region."""
    losses = adaptive(0.05)(random, many, trials)
    return losses + 0.3 * (random.random((many, 1)) < 0.2)


KEPT: Final[dict[str, Draw]] = {  # where the band is to keep its promise
    "bowl, 2 dimensions, no noise": bowl(2),
    "bowl, 3 dimensions, no noise": bowl(3),
    "bowl, 4 dimensions, no noise": bowl(4),
    "bowl, 2 dimensions, noise": bowl(2, noise=0.02),
    "lognormal": skewed,
    "logarithm of a loss": orders,
    "a third diverges": diverging,
    "adaptive, noise": adaptive(0.05),
    "error rates": error_rates,
}
HARD: Final[dict[str, Draw]] = {  # where it does not, or hardly
    "bowl, 1 dimension, no noise": bowl(1),
    "adaptive, hardly any noise": adaptive(0.01),
    "a fifth of the searches is stuck": stuck,
}
