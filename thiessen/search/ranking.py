"""Losses in order, one more at a time."""

import math
from array import array
from bisect import bisect_left, bisect_right, insort_right
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import numpy as np

SORTED_AT_ONCE: Final = 20  # so many times dearer it is to put a loss in its place than to sort it with all
RUN: Final = 1024  # losses at least; so short that making room in one costs nothing beside the rest


class Ranking:
    """Losses as they come, and their order: the finite by size, then the diverged (NaN), each tie by age.

    They are put in order when somebody asks for it. Memory: 12 bytes a loss.
    """

    def __init__(self) -> None:
        self.losses = array("d")
        self._runs: list[array[int]] = []  # indices of the finite losses, in order
        self._diverged = array("i")
        self._placed = 0  # the first of them, which are in order

    def __len__(self) -> int:
        return len(self.losses)

    def append(self, loss: float) -> None:
        """Add a loss; NaN means diverged."""
        self.losses.append(loss)

    def extend(self, losses: Sequence[float]) -> None:
        """Add many losses."""
        self.losses.extend(losses)

    def share(self, loss: float) -> float:
        """Return the share of the others that are better, half of the ties counted: best 0, worst 1.

        NaN ranks as the diverged do. Where nothing is told apart, by one loss or by equal ones, it is 1/2.
        """
        self._place()
        if math.isnan(loss):
            return self._share(len(self) - len(self._diverged), len(self))
        return self._share(self._position(loss, bisect_left), self._position(loss, bisect_right))

    def places(self, loss: float) -> int:
        """Return how many losses are no worse than this one, which is one of them."""
        self._place()
        return len(self) if math.isnan(loss) else self._position(loss, bisect_right)

    def quantile(self, share: float) -> float:
        """Return the finite loss at this share of the way from the least to the largest, by their places.

        Between two places it is between their losses in proportion. Raises ValueError when none is finite.
        """
        self._place()
        last = len(self) - len(self._diverged) - 1
        if last < 0:
            raise ValueError("no loss is finite, so there is no quantile; ask when a trial has succeeded.")
        place = share * last
        below = math.floor(place)
        low, high = self.losses[self.index(below)], self.losses[self.index(min(below + 1, last))]
        # Each scaled first: the difference of two huge losses overflows.
        between = low * (1 - (place - below)) + high * (place - below)
        return min(max(between, low), high)

    def index(self, place: int) -> int:
        """Return which loss is in this place, 0 for the best. Raises IndexError."""
        if place < 0:
            raise IndexError(place)
        self._place()
        for run in [*self._runs, self._diverged]:
            if place < len(run):
                return run[place]
            place -= len(run)
        raise IndexError(place)

    def leading(self, places: int) -> list[int]:
        """Return which losses are in the first places, in order."""
        self._place()
        found: list[int] = []
        for run in [*self._runs, self._diverged]:
            found += run[: places - len(found)]
        return found

    def leading_shares(self, losses: Sequence[float]) -> list[float]:
        """Return `share` of each of these losses, which are those of the first places, in order."""
        shares: list[float] = []
        for loss, equal in groupby(losses):
            below, up_to = len(shares), len(shares) + len(list(equal))
            # More may be equal to the last.
            share = self._share(below, up_to) if up_to < len(losses) else self.share(loss)
            shares += [share] * (up_to - below)
        return shares

    def _share(self, below: int, up_to: int) -> float:
        """Return the share of a loss that is in these places."""
        last = len(self) - 1
        return min(max((below + up_to - 1) / 2, 0.0), last) / last if last > 0 else 0.5

    def _place(self) -> None:
        """Put in order what has come: one by one, or by a sort of all when that costs less."""
        count = len(self.losses)
        if SORTED_AT_ONCE * (count - self._placed) > max(count, RUN):
            losses = np.array(self.losses)
            order = np.argsort(losses, kind="stable").astype(np.intc)  # NaN last, as they came
            finite, length = count - int(np.isnan(losses).sum()), max(RUN, math.isqrt(count))
            runs = np.split(order[:finite], range(length, finite, length)) if finite else []
            self._runs = [array("i", run.tobytes()) for run in runs]
            self._diverged = array("i", order[finite:].tobytes())
        else:
            for index in range(self._placed, count):
                self._insert(index)
        self._placed = count

    def _insert(self, index: int) -> None:
        loss = self.losses[index]
        if math.isnan(loss):
            self._diverged.append(index)
            return
        if not self._runs:
            self._runs.append(array("i", [index]))
            return
        at = min(bisect_right(self._runs, loss, key=self._largest), len(self._runs) - 1)
        run = self._runs[at]
        insort_right(run, index, key=self.losses.__getitem__)
        longest = 2 * max(RUN, len(self._runs))  # so that there are never more than sqrt(n) of them
        if len(run) >= longest:
            self._runs[at : at + 1] = [run[: longest // 2], run[longest // 2 :]]

    def _position(self, loss: float, bisect: Callable[..., int]) -> int:
        at = bisect(self._runs, loss, key=self._largest)
        before = sum(map(len, self._runs[:at]))
        if at == len(self._runs):
            return before
        return before + bisect(self._runs[at], loss, key=self.losses.__getitem__)

    def _largest(self, run: "array[int]") -> float:
        return self.losses[run[-1]]
