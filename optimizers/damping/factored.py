"""Factored Tikhonov damping (Martens & Grosse 2015; equation numbers of Martens 2016, sec. 6.6.3).

A ⊗ G + λ I is no Kronecker product; (A + π c I) ⊗ (G + c/π I) with c = √λ is one, and differs from it by
π c I ⊗ G + c/π A ⊗ I. The paper writes gamma for c.
"""

import math

import torch
from torch import Tensor


def balance(input_factor: Tensor, output_factor: Tensor) -> float:
    """Return π, which splits the damping by the factors' average eigenvalues; 1 where that is undefined.

    This π minimises the trace-norm bound on the difference above. A dead layer (G = 0) has no such π.
    """
    mean_input = float(input_factor.trace()) / len(input_factor)
    mean_output = float(output_factor.trace()) / len(output_factor)
    if not (0 < mean_input < math.inf and 0 < mean_output < math.inf):
        return 1.0
    return math.sqrt(mean_input) / math.sqrt(mean_output)


def damped(input_factor: Tensor, output_factor: Tensor, *, gamma: float) -> tuple[Tensor, Tensor]:
    """Return A + π c I and G + c/π I, where c is gamma (eq. 6.7)."""
    pi = balance(input_factor, output_factor)
    return _shifted(input_factor, pi * gamma), _shifted(output_factor, gamma / pi)


def _shifted(factor: Tensor, by: float) -> Tensor:
    return factor + by * torch.eye(len(factor), dtype=factor.dtype, device=factor.device)
