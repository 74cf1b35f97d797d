"""Iterates of conjugate gradients: which to keep, which to take, when to stop. Sections: Martens (2016)."""

import math
from collections.abc import Callable, Mapping
from typing import Literal, final

import torch
from torch import Tensor

SPACING = 1.3  # iterates number 1, 1.3, 1.3², … are kept, rounded up
LOST = 0.1  # of the most that the loss had fallen by
LONG = 10  # steps


def is_kept(iteration: int) -> bool:
    """Return whether to keep the iterate of this number, of 1, 1.3, 1.3², … rounded up."""
    if iteration == 0:
        return False
    power = math.ceil(math.log(iteration) / math.log(SPACING) - 1e-9)
    return any(math.ceil(SPACING**near) == iteration for near in (power - 1, power))


@final
class Heights:
    """h at the iterates of one solve, by their number, each computed once."""

    def __init__(self, height: Callable[[Tensor], float], like: Tensor) -> None:
        self._height = height
        self.before = height(torch.zeros_like(like))  # where nothing has moved
        self.known: dict[int, float] = {}

    def __call__(self, number: int, iterate: Tensor) -> float:
        if number not in self.known:
            self.known[number] = self._height(iterate)
        return self.known[number]

    def along(self, number: int, iterate: Tensor) -> Callable[[float], float]:
        """Return α -> h at α times this iterate, each computed once."""
        known = {0.0: self.before, 1.0: self(number, iterate)}

        def at(alpha: float) -> float:
            if alpha not in known:
                known[alpha] = self._height(alpha * iterate)
            return known[alpha]

        return at


@final
class Worsening:
    """Asked of each iterate, says to stop where the loss has risen by a tenth of the most that it had fallen.

    It looks at the iterates that are kept. What it has risen above is the best of them (sec. 4.13), or the
    one of ten steps ago or a little more (sec. 4.11). A start that is worse than nothing stops nothing.
    """

    def __init__(self, heights: Heights, above: Literal["best", "ten_steps_ago"]) -> None:
        self._heights, self._above = heights, above

    def __call__(self, number: int, iterate: Tensor) -> bool:
        if not is_kept(number):
            return False
        self._heights(number, iterate)
        lowest = min(self._heights.known.values())
        most = self._heights.before - lowest
        return most > 0 and self._heights.known[number] > self._reference(number, lowest) + LOST * most

    def _reference(self, number: int, lowest: float) -> float:
        if self._above == "best":
            return lowest
        long_ago = [each for each in self._heights.known if each <= number - LONG]
        return self._heights.known[max(long_ago)] if long_ago else math.inf

    @property
    def best(self) -> int:
        """The number of the best iterate it has looked at, the last of equal ones; 0 if it has at none."""
        return min(self._heights.known, key=lambda number: (self._heights.known[number], -number), default=0)


def back_tracked(iterates: Mapping[int, Tensor], heights: Heights) -> int:
    """Return which iterate to take: back from the last one while the next is no worse (sec. 4.6.7)."""
    number, *earlier = sorted(iterates, reverse=True)
    for other in earlier:
        if heights(other, iterates[other]) > heights(number, iterates[number]):
            break
        number = other
    return number


def lowest(iterates: Mapping[int, Tensor], heights: Heights) -> int:
    """Return the number of the lowest iterate, the last of equal ones."""
    return min(iterates, key=lambda number: (heights(number, iterates[number]), -number))
