"""How likely each draw of a proposal is kept, found out as far as it must be known."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from thiessen.elementwise import Array
from thiessen.search.acceptance import Chance
from thiessen.search.draws import Draws
from thiessen.search.landscape import Nearest

AT_FIRST: Final = 16  # draws whose nearest trials are looked for at once; then twice as many, and so on

NearestEach = Callable[[Array], list[Nearest]]
Limited = tuple[Array, Sequence[float | None]]
"""How likely draws are kept at most, and the shares expected to be better, None where nothing is."""
Limits = Callable[[Array], Limited]
"""Limits of draws by their points: an acceptance is its limit times the chance by the nearest trials."""


class Judgement:
    """The acceptances of draws: each lies between `least` and `most`, and is known where these are equal.

    To find the nearest trial costs more than all else in a long history. A limit says at less cost how likely
    a draw is kept at most; only where that leaves something open we look closer.
    """

    def __init__(
        self,
        draws: Draws,
        chance: Chance | None,  # None: all are kept
        nearest_each: NearestEach,
        limits: Limits,
    ) -> None:
        self.least: list[float] = []
        self.most: list[float] = []
        self.nearest: dict[int, Nearest] = {}  # by place among the draws
        self.shares: list[float | None] = []
        self._draws = draws
        self._chance = chance
        self._nearest_each = nearest_each
        self._limits = limits

    def first_kept(self) -> int | None:
        """Judge what was drawn since the last time; return the place of the first draw that is kept."""
        new = range(len(self.most), len(self._draws))
        self._bound(self._draws.points[new.start : new.stop])
        uniforms, size = self._draws.uniforms, AT_FIRST
        open_places = [place for place in new if uniforms[place] < self.most[place]]
        while open_places:
            self.settle(open_places[:size])
            for place in open_places[:size]:
                if uniforms[place] < self.most[place]:
                    return place
            open_places, size = open_places[size:], 2 * size
        return None

    def chosen(self, uniform: float) -> int:
        """Return the place of one of all draws, each as likely as its acceptance."""
        size = AT_FIRST
        while (place := chosen(self.least, self.most, uniform)) is None:
            unknown = [at for at, most in enumerate(self.most) if self.least[at] < most]
            self.settle(sorted(unknown, key=self.most.__getitem__, reverse=True)[:size])
            size *= 2
        return place

    def settle(self, places: Sequence[int]) -> None:
        """Find the nearest trials of these draws, and with them the acceptances."""
        if self._chance is None:
            return
        unknown = [place for place in places if place not in self.nearest]
        if not unknown:
            return
        for place, nearest in zip(unknown, self._nearest_each(self._draws.points[unknown]), strict=True):
            self.nearest[place] = nearest
            self.least[place] = self.most[place] = self._chance(nearest.losses) * self.most[place]

    def _bound(self, points: Array) -> None:
        limits, shares = self._limits(points)
        self.most += limits.tolist()
        self.shares += shares
        self.least += [1.0 if self._chance is None else 0.0] * len(points)


def chosen(least: Sequence[float], most: Sequence[float], uniform: float) -> int | None:
    """Return the place that the number chooses, each as likely as its acceptance, which lies in between.

    None where that is not decided. When all have none they are equally likely. Rounded sums never fall when
    what is added grows, so that the bounds hold to the last digit.
    """
    low, high = list(accumulate(least)), list(accumulate(most))
    if high[-1] == 0:
        return int(uniform * len(high))
    first = bisect_right(high, uniform * low[-1], hi=len(high) - 1)
    last = bisect_right(low, uniform * high[-1], hi=len(low) - 1)
    return first if first == last and low[-1] > 0 else None
