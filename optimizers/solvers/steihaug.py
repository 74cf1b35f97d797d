"""Conjugate gradients within a trust region (Steihaug 1983, Toint 1981; Martens 2016, sec. 4.6.6)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from optimizers.solvers.cg import Product, dot


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """A step that stays within the radius."""

    solution: Tensor
    objective: float  # ½ xᵀ A x - bᵀ x
    products: int
    at_boundary: bool


def steihaug(
    product: Product,
    b: Tensor,
    *,
    radius: float,
    max_iterations: int = 250,
    tolerance: float = 1e-10,  # of ‖A x - b‖ / ‖b‖
) -> Bounded:
    """Return x with ‖x‖ ≤ radius that lowers ½ xᵀ A x - bᵀ x at least half as far as the best such x.

    The half holds for positive semi-definite A, if neither limit ends it. Negative curvature is followed to
    the boundary. Dot products are summed in float64.
    """
    x, r, p = torch.zeros_like(b), -b, b.clone()
    squared, objective = dot(b, b), 0.0
    small = tolerance**2 * squared
    del b
    for i in range(1, max_iterations + 1):
        if squared <= small:
            return Bounded(solution=x, objective=objective, products=i - 1, at_boundary=False)
        ap = product(p)
        curvature = dot(p, ap)
        bends_up = curvature > 0  # and is a number
        step = squared / curvature if bends_up else 0.0
        further = torch.add(x, p, alpha=step)
        if not bends_up or dot(further, further) >= radius**2:
            step = _to_boundary(x, p, radius)
            objective += step * dot(p, r) + step**2 * curvature / 2
            x = torch.add(x, p, alpha=step)
            return Bounded(solution=x, objective=objective, products=i, at_boundary=True)
        x, objective = further, objective - step * squared / 2
        r.add_(ap, alpha=step)
        before, squared = squared, dot(r, r)
        p.mul_(squared / before).sub_(r)
    return Bounded(solution=x, objective=objective, products=max_iterations, at_boundary=False)


def _to_boundary(x: Tensor, p: Tensor, radius: float) -> float:
    """Return the positive τ with ‖x + τ p‖ = radius."""
    a, half, c = dot(p, p), dot(x, p), dot(x, x) - radius**2
    root = float((half**2 - a * c) ** 0.5)
    return -c / (half + root) if half > 0 else (root - half) / a  # the form without cancellation
