"""The best multiples of given directions in the exact quadratic model (Martens 2016, sec. 6.6.4 and 6.7).

For δ = α Δ + μ δ₀ and M(δ) - M(0) = ∇hᵀδ + ½ δᵀ B δ, with B the *exact* matrix plus damping, all it
takes are the products between the directions: K = [Δ, δ₀]ᵀ B [Δ, δ₀] and r = [Δ, δ₀]ᵀ ∇h. K is
`fisher_inner(...)` plus (λ + η) times the inner products themselves.
"""

import torch
from torch import Tensor

PARALLEL = 1e-10  # 1 - cos² of two directions in the metric of B, below which they count as one


def best_multiples(quadratic: Tensor, slopes: Tensor) -> Tensor:
    """Return -K⁻¹ r for one direction, or two: α, or (α, μ) in float64.

    μ is 0 where the second direction is 0 or parallel to the first, and both are where the first has no
    curvature.
    """
    k, r = quadratic.double(), slopes.double()
    multiples = torch.zeros_like(r)
    if not k[0, 0] > 0:
        return multiples
    if len(r) == 2 and k[1, 1] > 0:
        # To unit diagonal first: unscaled, the shorter direction would be lost to rounding.
        units = k.diag().sqrt()
        cosine = k[0, 1] / units.prod()
        if 1 - cosine**2 >= PARALLEL:
            scaled = k / units.outer(units)
            solved: Tensor = torch.linalg.solve(scaled, r / units)
            return -solved / units
    multiples[0] = -r[0] / k[0, 0]
    return multiples


def model_change(quadratic: Tensor, slopes: Tensor, multiples: Tensor) -> float:
    """Return M(δ) - M(0) = rᵀ c + ½ cᵀ K c for any multiples c. At the best ones it is ½ rᵀ c."""
    c = multiples.double()
    return float(slopes.double() @ c + c @ quadratic.double() @ c / 2)
