"""Factored Tikhonov damping (Martens & Grosse 2015; equation numbers of Martens 2016, sec. 6.6.3).

A ⊗ G + λ I is no Kronecker product; (A + π c I) ⊗ (G + c/π I) with c = √λ is one, and differs from it by
π c I ⊗ G + c/π A ⊗ I. The paper writes gamma for c.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from optimizers.damping.tikhonov import tikhonov

Norm = Literal["trace", "frobenius", "spectral"]


def balance(input_factor: Tensor, output_factor: Tensor, *, norm: Norm = "trace") -> float:
    """Return π, which splits the damping by the factors' sizes; 1 where that is undefined.

    This π minimises the bound on the norm of the difference above, ‖X ⊗ Y‖ being ‖X‖ ‖Y‖ for each of these.
    A dead layer (G = 0) has no such π.
    """
    of_inputs, of_outputs = (float(size(factor, norm)) for factor in (input_factor, output_factor))
    if not (0 < of_inputs < math.inf and 0 < of_outputs < math.inf):
        return 1.0
    return math.sqrt(of_inputs) / math.sqrt(of_outputs)


def damped(
    input_factor: Tensor, output_factor: Tensor, *, gamma: float, norm: Norm | None = "trace"
) -> tuple[Tensor, Tensor]:
    """Return A + π c I and G + c/π I, where c is gamma (eq. 6.7); without a norm, π = 1."""
    pi = 1.0 if norm is None else balance(input_factor, output_factor, norm=norm)
    return tikhonov(input_factor, pi * gamma), tikhonov(output_factor, gamma / pi)


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
