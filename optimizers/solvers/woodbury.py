"""Inverses of a matrix to which something was added: Σ x xᵀ of few rows x takes a system of their number."""

import torch
from torch import Tensor

from optimizers.errors import NotPositiveDefiniteError


def solve_with_rows(rows: Tensor, vector: Tensor, damping: float) -> Tensor:
    """Return (Σ x xᵀ + damping I)⁻¹ v = (v - Xᵀ (X Xᵀ + damping I)⁻¹ X v) / damping, in float64 inside.

    X has the rows x. Stacks of rows take stacks of vectors. Raises NotPositiveDefiniteError.
    """
    x, v = rows.double(), vector.double()[..., None]
    solution = (v - x.mT @ _solved(x @ x.mT, damping, x @ v)) / damping
    return solution[..., 0].to(vector.dtype)


def inverse_with_rows(inverse: Tensor, rows: Tensor, *, past: float = 1.0) -> Tensor:
    """Return (past · A + Σ x xᵀ)⁻¹ from A⁻¹, which for one row is the formula of Sherman and Morrison.

    Raises NotPositiveDefiniteError.
    """
    images = rows @ inverse
    after = (inverse - images.mT @ _solved(images @ rows.mT, past, images)) / past
    return (after + after.mT) / 2


def inverse_with_diagonal(inverse: Tensor, added: float) -> Tensor:
    """Return (A + added I)⁻¹ from A⁻¹. Raises NotPositiveDefiniteError."""
    after = _solved(added * inverse, 1.0, inverse)
    return (after + after.mT) / 2


def _solved(gram: Tensor, shift: float, right: Tensor) -> Tensor:
    shifted = gram + shift * torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    root, failures = torch.linalg.cholesky_ex(shifted)
    if failures.any() or not root.isfinite().all():
        raise NotPositiveDefiniteError(shifted)
    return torch.cholesky_solve(right, root)
