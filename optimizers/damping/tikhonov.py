"""Damping of a curvature matrix B by λ I, or by λ D (Martens 2016, sec. 4.6.1 and 4.6.3)."""

from collections.abc import Callable

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]


def tikhonov(matrix: Tensor, damping: float) -> Tensor:
    """Return B + λ I, which multiplies each eigen-component of the step by λ_j / (λ_j + λ)."""
    return matrix + damping * torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)


def tikhonov_product(product: Product, damping: float) -> Product:
    """Return v -> B v + λ v."""
    return lambda vector: product(vector) + damping * vector


def scale_sensitive(matrix: Tensor, damping: float, scale: Tensor) -> Tensor:
    """Return B + λ D, D a matrix or a diagonal.

    D = diag B makes steps invariant to the units of each parameter and of h, but holds back directions of low
    curvature that are not along an axis. D = Cᵀ C damps the steps of parameters that are C times these.
    """
    return matrix + damping * (scale.diag() if scale.dim() == 1 else scale)
