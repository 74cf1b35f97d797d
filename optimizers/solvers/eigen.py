"""Eigen-decompositions of symmetric matrices that do not die on what training makes of them."""

import torch
from torch import Tensor

from optimizers.errors import NotConvergedError, NotFiniteError, NotPositiveDefiniteError


def eigen(matrix: Tensor, name: str, *, is_rough: bool = False) -> tuple[Tensor, Tensor]:
    """Return eigenvalues, ascending, and eigenvectors as columns, of the symmetric part.

    Computed in float64, where it converges for matrices on which float32 gives up; a rough one in the
    matrix's own precision if it converges there. Raises NotFiniteError or NotConvergedError, which name it.
    """
    if not matrix.isfinite().all():
        raise NotFiniteError(name)
    for dtype in (matrix.dtype, torch.float64) if is_rough else (torch.float64,):
        precise = matrix.to(dtype)
        try:
            values, vectors = torch.linalg.eigh((precise + precise.mT) / 2)
        except torch.linalg.LinAlgError:  # type: ignore[attr-defined]  # it is there
            continue
        if vectors.isfinite().all():
            return values.to(matrix.dtype), vectors.to(matrix.dtype)
    raise NotConvergedError(name)


def diagonalised(a: Tensor, c: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Return s, ascending, and K, in float64, with Kᵀ A K = I and Kᵀ C K = diag s."""
    root, failures = torch.linalg.cholesky_ex(a.double())
    if failures.item() or not root.isfinite().all():
        raise NotPositiveDefiniteError(a)
    left = torch.linalg.solve_triangular(root, c.double(), upper=False)
    s, e = eigen(torch.linalg.solve_triangular(root, left.mT, upper=False), name)
    return s, torch.linalg.solve_triangular(root.mT, e, upper=True)
