"""The draws of one proposal: many at once, of the very numbers that one at a time would spend."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.numbers import Stream, uniform_of
from thiessen.search import local
from thiessen.search.landscape import Finished, Landscape
from thiessen.search.strategy import MAX_DRAWS, draw
from thiessen.space import Config

FEW: Final = 12  # draws: up to so many are faster one by one


class Draws:
    """What was drawn for a proposal and has no trial yet, in order.

    A draw spends the numbers that make its config, and if that has no trial one more, which judges it.
    """

    def __init__(self, landscape: Landscape, rng: Stream, *, are_local: bool) -> None:
        self.numbers: list[int] = []  # how many draws came before each
        self.parents: list[Finished | None] = []  # whose configs were changed for them
        self.uniforms: list[float] = []  # the numbers that judge them
        self.points: Array = np.empty((MAX_DRAWS, len(landscape.space.dimensions)))  # a row each
        self._configs: list[Config | Array] = []  # or the units that they are decoded from
        self._landscape = landscape
        self._rng = rng
        self._are_local = are_local
        self._most = 2**62  # to look ahead at: few where many of them turn out to be taken

    def __len__(self) -> int:
        return len(self.numbers)

    def config(self, place: int) -> Config:
        """Return the config that was drawn."""
        config = self._configs[place]
        return config if isinstance(config, dict) else self._landscape.space.decode(config.tolist())

    def add(self, number: int, config: Config, parent: Finished | None, uniform: float) -> None:
        """Add a draw that has no trial yet."""
        self.points[len(self)] = self._landscape.space.encode(config)
        self.numbers.append(number)
        self.parents.append(parent)
        self.uniforms.append(uniform)
        self._configs.append(config)

    def more(self, numbers: range) -> None:
        """Draw under these numbers."""
        while numbers:
            trying = numbers[: self._most]
            before = len(self)
            tried = self._one_by_one(trying) if len(trying) <= FEW else self._at_once(trying)
            untaken = len(self) - before
            self._most = max(self._most, 4 * tried) if untaken == tried else max(FEW, untaken)
            numbers = numbers[tried:]

    def _one_by_one(self, numbers: range) -> int:
        """Draw under these numbers; return how many they are."""
        landscape, rng = self._landscape, self._rng
        for number in numbers:
            parent = local.parent_of(landscape, rng) if self._are_local else None
            config = local.changed(parent, landscape.space, rng) if parent else draw(landscape.space, rng)
            if not landscape.is_taken(config):
                # Drawn last, so that acceptance 1 is random search exactly.
                self.add(number, config, parent, rng.uniform())
        return len(numbers)

    def _at_once(self, numbers: range) -> int:
        """Draw under these numbers, to the first that is taken; return how many were tried."""
        columns, count = self._landscape.columns, len(numbers)
        ahead = local.changed_each if self._are_local else _uniform_each
        parents, units, uniforms, ends = ahead(self._landscape, self._rng, count)
        codes = columns.decoded(units)
        untaken = [*self._landscape.is_taken_each(codes), True].index(True)
        self.points[len(self) : len(self) + untaken] = columns.encoded(codes[:untaken])
        self.numbers += numbers[:untaken]
        self.parents += parents[:untaken]
        self.uniforms += uniforms[:untaken].tolist()
        self._configs += list(units[:untaken])
        if untaken == count:
            self._rng.spend(ends[-1])
            return count
        self._rng.spend(ends[untaken] - 1)  # it is not judged: that number is the first of the next one
        return untaken + 1


def _uniform_each(
    landscape: Landscape, rng: Stream, count: int
) -> tuple[list[Finished | None], Array, Array, Sequence[int]]:
    """Look ahead at so many uniform draws, as `local.changed_each` does at local ones."""
    each = len(landscape.space.dimensions) + 1
    numbers = uniform_of(rng.ahead(count * each)).reshape(count, each)
    return [None] * count, numbers[:, :-1], numbers[:, -1], range(each, count * each + 1, each)
