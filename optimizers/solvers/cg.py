"""Preconditioned conjugate gradients (Martens 2016, algorithm 2), with the stopping rule of Hessian-free.

Minimises q(x) = ½ xᵀ A x - bᵀ x, for A given by products and positive definite along what is visited.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]

RELATIVE, MAX_ITERATIONS, RESIDUAL, ASKED = "progress", "iterations", "residual", "asked"
CURVATURE = "negative curvature"
PIECE = 1 << 16  # entries, which a cache holds


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What conjugate gradients found, and how."""

    solution: Tensor
    residual: Tensor  # A x - b
    objectives: list[float]  # q(x_i), from i = 0 on
    iterates: dict[int, Tensor]  # x_i that were kept, by i; always the last
    stopped: str  # "progress", "iterations", "residual", "asked" or "negative curvature"

    @property
    def iterations(self) -> int:
        """Return how many products with A were spent on steps."""
        return len(self.objectives) - 1


def conjugate_gradients(
    product: Product,
    b: Tensor,
    *,
    start: Tensor | None = None,
    precondition: Product | None = None,  # P⁻¹, P positive definite
    max_iterations: int = 250,
    progress: float = 1e-4,  # ε of eq. 4.2; 0 turns the rule off
    tolerance: float = 0.0,  # of ‖A x - b‖ / ‖b‖
    keep: Callable[[int], bool] | None = None,  # which iterates, 0 for the start, beside the last
    stop: Callable[[int, Tensor], bool]
    | None = None,  # a rule of the caller's own, asked of each iterate, not to keep it
) -> Solved:
    """Return the iterate at which the first of the rules stops: see `Solved.stopped`.

    On negative curvature it is the last iterate before it. Dot products are summed in float64. At no time are
    there more than six vectors, what is kept and what a product takes for itself not counted.
    """
    x = torch.zeros_like(b) if start is None else start
    inverse = precondition or (lambda vector: vector)
    residual = -b if start is None else product(x) - b
    small = tolerance * dot(b, b) ** 0.5
    objectives, stopped = [(dot(residual, x) - dot(b, x)) / 2], MAX_ITERATIONS
    iterates = {0: x} if keep is not None and keep(0) else {}
    del b, start
    y = inverse(residual)
    ry = dot(residual, y)
    p = -y
    del y

    for i in range(1, max_iterations + 1):
        squared = ry if precondition is None or small == 0 else dot(residual, residual)
        if squared <= small**2:
            stopped = RESIDUAL
            break
        ap = product(p)
        curvature = dot(p, ap)
        if not curvature > 0:  # also when it is no number
            stopped = CURVATURE
            break
        step = ry / curvature
        objectives.append(objectives[-1] - step * ry / 2)  # q(x_i) = ½ (r - b)ᵀ x, free of charge
        is_given = i == 1 or i - 1 in iterates  # x is the start, or kept
        x = torch.add(x, p, alpha=step) if is_given else x.add_(p, alpha=step)
        residual.add_(ap, alpha=step)
        del ap
        y = inverse(residual)
        before, ry = ry, dot(residual, y)
        p.mul_(ry / before).sub_(y)
        del y

        if keep is not None and keep(i):
            iterates[i] = x
        if _progress_is_small(objectives, progress):
            stopped = RELATIVE
            break
        if stop is not None and stop(i, x):
            stopped = ASKED
            break
    iterates[len(objectives) - 1] = x
    return Solved(solution=x, residual=residual, objectives=objectives, iterates=iterates, stopped=stopped)


def _progress_is_small(objectives: list[float], progress: float) -> bool:
    i = len(objectives) - 1
    k = max(10, i // 10)  # eq. 4.2: the mean progress of the last k steps, relative to all so far
    return i > k and objectives[i] < 0 and (objectives[i] - objectives[i - k]) / objectives[i] < progress


def dot(first: Tensor, second: Tensor) -> float:
    """Return their dot product, summed in float64."""
    piece = PIECE if first.device.type == "cpu" else first.numel()  # there torch converts before it sums
    pairs = zip(first.split(piece), second.split(piece), strict=True)
    return float(torch.stack([(u * v).sum(dtype=torch.float64) for u, v in pairs]).sum())
