"""A smooth surface through values at points of the unit cube: what to expect between them."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from thiessen.search.neighbours import Array, squared_gap
from thiessen.space import Space

RIDGE: Final = 1e-6  # so that points at one place, or values that are noisy there, do not break it
SLOPE_RIDGE: Final = 1e-9  # so that a dimension in which all points agree gets no slope


class Surface:
    """s(u) = sum of w_i |u - u_i|^3, plus a constant, plus a slope in each ordered dimension.

    It meets the values v_i at the points u_i. Where all dimensions are ordered and active it is, of all such
    functions, the one that bends least (Duchon 1977); as a model of an expensive function see Gutmann (2001,
    Journal of Global Optimization 19, 201-227). Distances are those of the landscape. Additions are
    elementwise and in a fixed order: the same on every machine.
    """

    def __init__(self, space: Space, points: Sequence[Sequence[float]], values: Sequence[float]) -> None:
        self._dimensions = list(space.dimensions.values())
        self._sloped = [at for at, each in enumerate(self._dimensions) if each.ordered and not each.when]
        self._points = np.array(points, dtype=float)
        rows = len(points)
        size = rows + 1 + len(self._sloped)
        equations = np.zeros((size, size + 1))
        equations[:rows, :-1] = self._basis(self._points)
        equations[rows:size, :rows] = equations[:rows, rows:size].T
        diagonal = np.arange(size)
        equations[diagonal[:rows], diagonal[:rows]] = RIDGE
        equations[diagonal[rows + 1 :], diagonal[rows + 1 :]] = -SLOPE_RIDGE
        equations[:rows, -1] = values
        self._weights = _solution(equations)

    def __call__(self, points: Sequence[Sequence[float]]) -> list[float]:
        """Return the height over each point."""
        heights = np.zeros(len(points))
        asked = np.array(points, dtype=float).reshape(len(points), len(self._dimensions))
        for weight, column in zip(self._weights, self._basis(asked).T, strict=True):
            heights += weight * column
        return [float(height) for height in heights]

    def _basis(self, asked: Array) -> Array:
        """Return, for each point asked, the cubed distances, 1, and its place in each sloped dimension."""
        squared = np.zeros((len(asked), len(self._points)))
        for at, dimension in enumerate(self._dimensions):
            squared += squared_gap(
                self._points[:, at],
                asked[:, at, np.newaxis],
                ordered=dimension.ordered,
                conditional=bool(dimension.when),
            )
        ones = np.ones((len(asked), 1))
        return np.hstack([squared * np.sqrt(squared), ones, asked[:, self._sloped] - 0.5])


def _solution(equations: Array) -> Array:
    """Solve linear equations, the right side in the last column, by Gauss' elimination with row exchanges.

    A column that has nothing left is divided by 1: then whatever comes out is a solution.
    """
    size = len(equations)
    for at in range(size):
        pivot = at + int(np.abs(equations[at:, at]).argmax())
        equations[[at, pivot]] = equations[[pivot, at]]
        factors = equations[at + 1 :, at] / (equations[at, at] or 1.0)
        equations[at + 1 :, at:] -= factors[:, np.newaxis] * equations[at, at:]
    solved = np.zeros(size)
    right = equations[:, -1].copy()
    for at in reversed(range(size)):
        solved[at] = right[at] / (equations[at, at] or 1.0)
        right[:at] -= equations[:at, at] * solved[at]
    return solved
