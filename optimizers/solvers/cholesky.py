"""Inverses of symmetric positive definite matrices, and what to do when there is none."""

import warnings
from typing import Any, final

import torch
from torch import Tensor

from optimizers.errors import NotFiniteError, NotPositiveDefiniteError

PATIENCE = 3  # failures in a row before a run is stopped


def inverse(matrix: Tensor) -> Tensor:
    """Return the inverse of a symmetric positive definite matrix, or of each of a stack.

    Raises NotPositiveDefiniteError.
    """
    root, failures = torch.linalg.cholesky_ex(matrix)
    if failures.any() or not root.isfinite().all():
        raise NotPositiveDefiniteError(matrix)
    return torch.cholesky_inverse(root)


@final
class Inverses:
    """The inverses of named matrices that change as training goes on, and outlive a bad one.

    A matrix without an inverse in its own precision is tried in float64; if that fails too, its last inverse
    is kept, with one warning for each name. The third failure of a name in a row is raised.
    """

    def __init__(self) -> None:
        self.failures = 0  # of all names, since the beginning
        self._kept: dict[str, Tensor] = {}
        self._in_a_row: dict[str, int] = {}
        self._warned: set[str] = set()

    def of(self, name: str, matrix: Tensor) -> Tensor:
        """Return the inverse, or the last one of this name.

        Raises NotFiniteError naming the matrix, or NotPositiveDefiniteError, when there is no last one or at
        the third failure in a row.
        """
        try:
            self._kept[name] = precise_inverse(name, matrix)
        except (NotFiniteError, NotPositiveDefiniteError) as error:
            self._failed(name, error)
        else:
            self._in_a_row[name] = 0
        return self._kept[name]

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return {"failures": self.failures, "kept": dict(self._kept), "in_a_row": dict(self._in_a_row)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self.failures, self._kept = state["failures"], dict(state["kept"])
        self._in_a_row = dict(state["in_a_row"])

    def _failed(self, name: str, error: Exception) -> None:
        self.failures += 1
        self._in_a_row[name] = self._in_a_row.get(name, 0) + 1
        if name not in self._kept or self._in_a_row[name] >= PATIENCE:
            raise error
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(f"The last inverse of {name!r} is kept. {error}", RuntimeWarning, stacklevel=3)


def precise_inverse(name: str, matrix: Tensor) -> Tensor:
    """Return the inverse, by float64 where the matrix's own precision does not suffice.

    Raises NotFiniteError naming the matrix, or NotPositiveDefiniteError.
    """
    if not matrix.isfinite().all():
        raise NotFiniteError(name)
    try:
        return inverse(matrix)
    except NotPositiveDefiniteError:
        return inverse(matrix.double()).to(matrix.dtype)
