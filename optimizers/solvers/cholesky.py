"""Inverses of symmetric positive definite matrices, and what to do when there is none."""

from typing import Any, final

import torch
from torch import Tensor

from optimizers.errors import NotFiniteError, NotPositiveDefiniteError
from optimizers.solvers.outliving import Outliving


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
        self._kept: Outliving[Tensor] = Outliving()

    @property
    def failures(self) -> int:
        """Return how many there were, of all names, since the beginning."""
        return self._kept.failures

    def of(self, name: str, matrix: Tensor) -> Tensor:
        """Return the inverse, or the last one of this name.

        Raises NotFiniteError naming the matrix, or NotPositiveDefiniteError, when there is no last one or at
        the third failure in a row.
        """
        return self._kept.of(name, lambda: precise_inverse(name, matrix))

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return self._kept.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self._kept.load_state_dict(state)


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
