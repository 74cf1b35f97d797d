"""How likely a candidate is kept, from the losses of the finished trials nearest to it.

Each rule sees losses only through a scale z of its own, on which the best loss known has the merit 1 and the
worst the merit 0: merit = (z(worst) - z(loss)) / (z(worst) - z(best)). Of several trials equally near, the
mean merit counts; one that diverged has none.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from thiessen.numbers import log, power
from thiessen.search.landscape import Landscape

Chance = Callable[[Sequence[float]], float]
"""How likely a candidate is kept whose nearest trials have these losses, NaN where diverged."""


class Acceptance(Protocol):
    """A rule from losses to a probability. One that is better is never kept less often."""

    name: ClassVar[str]

    def __call__(self, landscape: Landscape) -> Chance:
        """Return the rule on what is known now. Something finite must have been observed.

        Where nothing tells losses apart every chance is 1: random search.
        """


@dataclass(frozen=True)
class Linear:
    """The scale is the loss itself. One huge loss makes all others nearly certain."""

    name: ClassVar[str] = "linear"

    def __call__(self, landscape: Landscape) -> Chance:
        best, worst = landscape.best, landscape.worst
        return _mean_of(lambda loss: merit(loss, best=best, worst=worst))


@dataclass(frozen=True)
class Log:
    """The scale is the logarithm of the loss: a few large ones count less.

    Unless all losses are positive it is that of the distance to a point just below the best.
    """

    name: ClassVar[str] = "log"

    def __call__(self, landscape: Landscape) -> Chance:
        best, worst = landscape.best, landscape.worst
        unit = 0.25 if math.isinf(2 * (worst - best)) else 1.0  # so that nothing below overflows
        zero, margin = 0.0, 0.0
        if best <= 0:
            zero = best
            margin = unit * ((landscape.quantile(0.5) * unit - best * unit) / 100 / unit or 1.0)

        def scale(loss: float) -> float:
            return log(max(loss, best) * unit - zero * unit + margin)

        low, high = scale(best), scale(worst)
        return _mean_of(lambda loss: merit(scale(loss), best=low, worst=high))


@dataclass(frozen=True)
class Winsor:
    """The scale is the loss up to a quantile of all losses; what is worse is never kept."""

    quantile: float = 0.5
    name: ClassVar[str] = "winsor"

    def __post_init__(self) -> None:
        if not 0 <= self.quantile <= 1:
            raise ValueError(
                f"the quantile of a winsor acceptance lies between 0 and 1, 0.5 is the median; "
                f"got {self.quantile!r}."
            )

    def __call__(self, landscape: Landscape) -> Chance:
        best, cut = landscape.best, landscape.quantile(self.quantile)
        return _mean_of(lambda loss: merit(loss, best=best, worst=cut) if loss <= cut else 0.0)


@dataclass(frozen=True)
class Power:
    """The linear merit to a power: above 1 it is choosier, below 1 more tolerant."""

    exponent: float = 2.0
    name: ClassVar[str] = "power"

    def __post_init__(self) -> None:
        if not 0 < self.exponent < math.inf:
            raise ValueError(
                f"the exponent of a power acceptance is a finite number above 0, 1 is linear; "
                f"got {self.exponent!r}."
            )

    def __call__(self, landscape: Landscape) -> Chance:
        chance = Linear()(landscape)
        return lambda losses: power(chance(losses), self.exponent)


@dataclass(frozen=True)
class Rank:
    """The scale is the rank among all losses: no increasing change of the loss changes a proposal.

    The diverged rank last, so what training breaks with, a huge loss or none, changes nothing either.
    """

    name: ClassVar[str] = "rank"

    def __call__(self, landscape: Landscape) -> Chance:
        best = landscape.rank(landscape.best)
        worst = landscape.rank(landscape.ranked(len(landscape) - 1).loss)
        return _mean_of(lambda loss: merit(landscape.rank(loss), best=best, worst=worst))


@dataclass(frozen=True)
class SharpeningRank:
    """The merit by rank to the power 1 + n/trials, with n trials finished: choosier as more is known."""

    trials: float = 3.0
    name: ClassVar[str] = "sharpening_rank"

    def __post_init__(self) -> None:
        if not 0 < self.trials < math.inf:
            raise ValueError(
                f"a sharpening rank gets choosier with every so many trials, a finite number above 0; "
                f"got {self.trials!r}."
            )

    def __call__(self, landscape: Landscape) -> Chance:
        chance, exponent = Rank()(landscape), self.exponent(landscape)
        return lambda losses: power(chance(losses), exponent)

    def exponent(self, landscape: Landscape) -> float:
        """Return the power of now."""
        return 1.0 + len(landscape) / self.trials


ACCEPTANCES: Final[dict[str, type[Acceptance]]] = {
    rule.name: rule for rule in (Linear, Log, Power, Rank, SharpeningRank, Winsor)
}
"""Every acceptance of this version, by its name."""


def merit(value: float, *, best: float, worst: float) -> float:
    """Return 1 for the best value, 0 for the worst, and the straight line between them."""
    if best == worst:
        return 1.0  # nothing to tell apart yet
    if math.isinf(worst - best):
        return merit(value / 2, best=best / 2, worst=worst / 2)
    return min(max((worst - value) / (worst - best), 0.0), 1.0)


def _mean_of(merit_of: Callable[[float], float]) -> Chance:
    def mean(losses: Sequence[float]) -> float:
        total = 0.0
        for loss in losses:  # one by one: Python's own sum rounds differently since 3.12
            total += 0.0 if math.isnan(loss) else merit_of(loss)
        return total / len(losses)  # divided once, so that the mean of ones is 1

    return mean
