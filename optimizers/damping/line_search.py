"""Line searches: back-tracking (Martens 2016, sec. 4.6.8), and to where the slope is small."""

from collections.abc import Callable

import torch
from torch import Tensor

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


def strong_wolfe(along: Callable[[float], tuple[float, float]], *, first: float, slope_left: float) -> float:
    """Return an α with φ(α) below φ(0), and |φ'(α)| ≤ slope_left |φ'(0)| if it is soon found.

    `along` gives φ and φ' at any α, and `first` is tried first. It is torch's L-BFGS in one dimension, told
    to stop at that slope: on a parabola its second step is exact.
    """
    steepest = abs(along(0.0)[1])
    place = torch.zeros(1, dtype=torch.float64)  # α, in units of `first`
    search = torch.optim.LBFGS(
        [place], tolerance_grad=slope_left, tolerance_change=0.0, line_search_fn="strong_wolfe"
    )

    def height() -> Tensor:
        value, slope = along(first * place.item())
        place.grad = place.new_tensor([slope / steepest])
        return place.new_tensor(value / (first * steepest))  # so that it falls by 1 at first

    search.step(height)
    return first * place.item()
