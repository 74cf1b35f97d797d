"""A smooth surface through values at points of the unit cube: what to expect between them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.search.neighbours import squared_gap
from thiessen.space import Space

RIDGE: Final = 1e-6  # so that points at one place, or values that are noisy there, do not break it
SLOPE_RIDGE: Final = 1e-9  # so that a dimension in which all points agree gets no slope
MOST_FACTORED: Final = (
    64  # sets of points whose equations are kept: most proposals find the best where they were
)

Along = tuple[tuple[bool, bool], ...]
"""Of each dimension, whether it is ordered, and conditional."""


class Surface:
    """s(u) = sum of w_i |u - u_i|^3, plus a constant, plus a slope in each ordered dimension.

    It meets the values v_i at the points u_i. Where all dimensions are ordered and active it is, of all such
    functions, the one that bends least (Duchon 1977); as a model of an expensive function see Gutmann (2001,
    Journal of Global Optimization 19, 201-227). Distances are those of the landscape. Additions are
    elementwise and in a fixed order: the same on every machine.
    """

    def __init__(
        self, space: Space, points: Array | Sequence[Sequence[float]], values: Sequence[float]
    ) -> None:
        self._along = tuple((each.ordered, space.may_lack(name)) for name, each in space.dimensions.items())
        self._points = np.array(points, dtype=float)
        equations = _factored(self._along, self._points.tobytes())
        right = np.zeros(equations.size)
        right[: len(values)] = values
        self._weights = equations.solved(right)

    def __call__(self, points: Array | Sequence[Sequence[float]]) -> Array:
        """Return the height over each point."""
        asked = np.asarray(points, dtype=float).reshape(len(points), len(self._along))
        heights = np.zeros(len(asked))
        for weight, column in zip(
            self._weights.tolist(), _basis(self._along, self._points, asked), strict=True
        ):
            heights += weight * column
        return heights


class Equations:
    """Linear equations that are solved for one right side after another.

    By Gauss' elimination with row exchanges. A column that has nothing left is divided by 1: then whatever
    comes out is a solution.
    """

    def __init__(self, matrix: Array) -> None:
        self.size = len(matrix)
        rows = list(range(self.size))
        matrix, product = matrix.copy(), np.empty_like(matrix)
        for at in range(self.size):
            pivot = at + int(np.abs(matrix[at:, at]).argmax())
            if pivot != at:
                rows[at], rows[pivot] = rows[pivot], rows[at]
                below = matrix[pivot].copy()
                matrix[pivot], matrix[at] = matrix[at], below
            factors, rest = matrix[at + 1 :, at], matrix[at + 1 :, at + 1 :]
            factors /= matrix.item(at, at) or 1.0
            rest -= np.multiply(factors[:, np.newaxis], matrix[at, at + 1 :], out=product[at + 1 :, at + 1 :])
        self._rows = rows  # in the order that the exchanges gave them
        self._pivots = [pivot or 1.0 for pivot in matrix.diagonal().tolist()]
        # What each row is taken from the others with, on the way down and on the way back up.
        self._down = [matrix[at + 1 :, at].copy() for at in range(self.size)]
        self._up = [matrix[:at, at].copy() for at in range(self.size)]

    def solved(self, right: Array) -> Array:
        """Return a solution for this right side."""
        right = right[self._rows]
        for at, factors in enumerate(self._down):
            right[at + 1 :] -= factors * right.item(at)
        for at in reversed(range(self.size)):
            right[at] /= self._pivots[at]
            right[:at] -= self._up[at] * right.item(at)
        return right


@lru_cache(maxsize=MOST_FACTORED)
def _factored(along: Along, points: bytes) -> Equations:
    """Return the equations of a surface through these points."""
    centres = np.frombuffer(points).reshape(-1, len(along))
    basis = _basis(along, centres, centres)
    size, rows = basis.shape
    matrix = np.zeros((size, size))
    matrix[:, :rows] = basis
    matrix[:rows, rows:] = basis[rows:].T
    diagonal = np.arange(size)
    matrix[diagonal[:rows], diagonal[:rows]] = RIDGE
    matrix[diagonal[rows + 1 :], diagonal[rows + 1 :]] = -SLOPE_RIDGE
    return Equations(matrix)


def _basis(along: Along, centres: Array, asked: Array) -> Array:
    """Return, for each point asked a column: cubed distances, 1, and its place in each sloped dimension."""
    sloped = [at for at, (ordered, conditional) in enumerate(along) if ordered and not conditional]
    basis = np.empty((len(centres) + 1 + len(sloped), len(asked)))
    squared, gap = basis[: len(centres)], np.empty((len(centres), len(asked)))
    squared[:] = 0.0
    for at, (ordered, conditional) in enumerate(along):
        theirs, ours = centres[:, at, np.newaxis], np.ascontiguousarray(asked[:, at])
        if at in sloped:  # `squared_gap` without an array for each step
            np.multiply(np.subtract(theirs, ours, out=gap), gap, out=gap)
            squared += gap
        else:
            squared += squared_gap(theirs, ours, ordered=ordered, conditional=conditional)
    squared *= np.sqrt(squared, out=gap)
    basis[len(centres)] = 1.0
    basis[len(centres) + 1 :] = asked[:, sloped].T - 0.5
    return basis
