"""Back-tracking line search (Martens 2016, sec. 4.6.8)."""

from collections.abc import Callable

SHRINK = 0.8  # β
SUFFICIENT = 1e-2  # c
REDUCTIONS = 60  # α is then 1.5e-6


def backtrack(loss_at: Callable[[float], float], *, loss: float, slope: float) -> float:
    """Return the first α of 1, β, β², … with h(θ + α δ) ≤ h(θ) + c α ∇hᵀδ, or 0 when there is none.

    `slope` is ∇hᵀδ, on the batch of `loss_at`. Where it is not negative nothing is tried: δ, perhaps a
    truncated solve, does not descend.
    """
    if not slope < 0:
        return 0.0
    alpha = 1.0
    for _ in range(REDUCTIONS + 1):
        if loss_at(alpha) <= loss + SUFFICIENT * alpha * slope:  # not so for NaN either
            return alpha
        alpha *= SHRINK
    return 0.0
