"""Eigen-decompositions of symmetric matrices that do not die on what training makes of them."""

import torch
from torch import Tensor

from optimizers.errors import NotFiniteError, NotPositiveDefiniteError


def eigen(matrix: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Return eigenvalues, ascending, and eigenvectors as columns. Raises NotFiniteError naming the matrix.

    Computed in float64, where it converges for matrices on which float32 gives up, and of the symmetric part.
    """
    if not matrix.isfinite().all():
        raise NotFiniteError(name)
    precise = matrix.double()
    values, vectors = torch.linalg.eigh((precise + precise.mT) / 2)
    return values.to(matrix.dtype), vectors.to(matrix.dtype)


def inverse_root(matrix: Tensor) -> Tensor:
    """Return the symmetric M^-½. Raises NotPositiveDefiniteError, or NotFiniteError."""
    values, vectors = eigen(matrix, "under a root")
    if not values[0] > 0:
        raise NotPositiveDefiniteError(matrix)
    return (vectors / values.sqrt()) @ vectors.mT
