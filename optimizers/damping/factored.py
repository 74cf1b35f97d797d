"""Factored Tikhonov damping (Martens & Grosse 2015; equation numbers of Martens 2016, sec. 6.6.3).

A ⊗ G + λ I is no Kronecker product; (A + π c I) ⊗ (G + c/π I) with c = √λ is one, and differs from it by
π c I ⊗ G + c/π A ⊗ I. The paper writes gamma for c.
"""

import math
from typing import Literal

import torch
from torch import Tensor

Norm = Literal["trace", "frobenius", "spectral"]


def size(factor: Tensor, norm: Norm, *, diagonal: bool = False) -> Tensor:
    """Return ‖X‖ / ‖I‖ of a matrix or of each of a stack, or of what has these numbers on the diagonal.

    It is not finite where the matrix is not.
    """
    width = factor.shape[-1]
    if norm == "trace":
        return (factor if diagonal else factor.diagonal(dim1=-2, dim2=-1)).sum(dim=-1) / width
    if norm == "frobenius":
        lengths: Tensor = factor.flatten(start_dim=-1 if diagonal else -2).norm(dim=-1)
        return lengths / math.sqrt(width)
    if not factor.isfinite().all():
        return torch.full_like(factor[..., 0] if diagonal else factor[..., 0, 0], math.nan)
    return factor.abs().amax(dim=-1) if diagonal else torch.linalg.matrix_norm(factor, ord=2)
