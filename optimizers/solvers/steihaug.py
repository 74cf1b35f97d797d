"""Conjugate gradients within a trust region (Steihaug 1983, Toint 1981; Martens 2016, sec. 4.6.6)."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """A step that stays within the radius."""

    solution: Tensor
    products: int
    at_boundary: bool


def steihaug(
    product: Callable[[Tensor], Tensor],
    b: Tensor,
    *,
    radius: float,
    max_iterations: int = 250,
    tolerance: float = 1e-10,  # of ‖A x - b‖ / ‖b‖
) -> Bounded:
    """Return x with ‖x‖ ≤ radius that lowers ½ xᵀ A x - bᵀ x at least half as far as the best such x.

    The half holds for positive semi-definite A. Negative curvature is followed to the boundary.
    """
    x, r = torch.zeros_like(b), -b
    p, squared = b.clone(), float(b @ b)
    for i in range(1, max_iterations + 1):
        if squared <= tolerance**2 * float(b @ b):
            return Bounded(solution=x, products=i - 1, at_boundary=False)
        ap = product(p)
        curvature = float(p @ ap)
        step = squared / curvature if curvature > 0 else 0.0
        if curvature <= 0 or float((x + step * p).norm()) >= radius:
            return Bounded(solution=x + _to_boundary(x, p, radius) * p, products=i, at_boundary=True)
        x, r = x + step * p, r + step * ap
        before, squared = squared, float(r @ r)
        p = -r + squared / before * p
    return Bounded(solution=x, products=max_iterations, at_boundary=False)


def _to_boundary(x: Tensor, p: Tensor, radius: float) -> float:
    """Return the positive τ with ‖x + τ p‖ = radius."""
    a, half, c = float(p @ p), float(x @ p), float(x @ x) - radius**2
    root = float((half**2 - a * c) ** 0.5)
    return -c / (half + root) if half > 0 else (root - half) / a  # the form without cancellation
