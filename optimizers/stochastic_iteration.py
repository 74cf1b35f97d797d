"""What becomes of θ ← θ - α_k B⁻¹ g_k on a quadratic whose gradients are noisy, in closed form.

h(θ) = h* + ½ (θ - θ*)ᵀ H (θ - θ*), and g_k = ∇h(θ_k) + ξ_k with independent ξ_k of mean 0 and covariance Σ.

There are coordinates, θ - θ* = T φ, in which H is the identity and B⁻¹ is diagonal, Λ. There each entry goes
its own way,

    φ_i ← (1 - α_k λ_i) φ_i - α_k λ_i ζ_i    with ζ of covariance S = Tᵀ Σ T    and h - h* = ½ Σ φ_i²,

and all that is known of the iteration is arithmetic on λ, φ_0 and S. The questions are those of Murata (1998)
and of Martens (2016, section 5.7); where the answers differ from what is printed, the documentation says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from optimizers.errors import NotPositiveDefiniteError
from optimizers.solvers.eigen import diagonalised, eigen

NO_FURTHER = 1 + 1e-9  # α λ is at most 1, up to rounding: without noise, no update goes beyond the optimum


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Where an iterate is expected."""

    mean: Tensor  # of θ - θ*
    covariance: Tensor
    excess: float  # E[h] - h*


@final
class StochasticIteration:
    """θ ← θ - α_k B⁻¹ g_k from θ_0, with the learning rates α_k given to each question.

    `curvature` is H and `preconditioner` B, both positive definite; `noise` is Σ; `start` is θ_0 - θ*. All is
    computed in float64. `eigenvalues` are those of B⁻¹H, ascending: each coordinate's speed.
    """

    def __init__(self, *, curvature: Tensor, preconditioner: Tensor, noise: Tensor, start: Tensor) -> None:
        named = {"curvature": curvature, "preconditioner": preconditioner, "noise": noise}
        for name, matrix in named.items():
            if matrix.shape != (len(start), len(start)) or not torch.allclose(matrix, matrix.mT):
                raise ValueError(f"{name} must be symmetric, {len(start)} by {len(start)} as start is long.")
        inverses, basis = diagonalised(curvature, preconditioner, "preconditioner relative to the curvature")
        if inverses[0] <= 0:
            raise NotPositiveDefiniteError(preconditioner)
        if eigen(noise, "noise")[0][0] < -1e-10 * noise.abs().max():
            raise ValueError("noise must be a covariance, without negative eigenvalues.")
        self.eigenvalues, self._basis = (1 / inverses).flip(0), basis.flip(1)  # Λ, T
        self._start = self._basis.mT @ curvature.double() @ start.double()  # φ_0, as T⁻¹ = Tᵀ H
        self._noise = self._basis.mT @ noise.double() @ self._basis  # S

    def after(self, lrs: Sequence[float]) -> Moments:
        """Return the moments of the iterate after updates with these learning rates. Exact."""
        mean, covariance = self._start, torch.zeros_like(self._noise)
        for lr in lrs:
            moved = lr * self.eigenvalues
            mean = (1 - moved) * mean
            covariance = (1 - moved).outer(1 - moved) * covariance + moved.outer(moved) * self._noise
        return self._moments(mean, covariance)

    def excess(self, lrs: Sequence[float]) -> Tensor:
        """Return E[h] - h* before the first of these updates, and after each of them. Exact."""
        squares = [self._start**2]  # E[φ_i²]
        for lr in lrs:
            moved = lr * self.eigenvalues
            squares.append((1 - moved) ** 2 * squares[-1] + moved**2 * self._noise.diag())
        return torch.stack(squares).sum(dim=1) / 2

    def limit(self, lr: float) -> Moments:
        """Return what a constant learning rate leads to: E[h] - h* = (α/2) tr((2B - αH)⁻¹ Σ)."""
        moved = self._moved(lr, below=2)
        both = moved.outer(moved)
        lost = moved[:, None] + moved - both  # share of a covariance, 1 - (1 - α λ_i)(1 - α λ_j)
        return self._moments(torch.zeros_like(moved), both / lost * self._noise)

    def bounds(self, lr: float, updates: int) -> tuple[float, float]:
        """Return a lower and an upper bound of E[h] - h* after updates with a constant learning rate."""
        moved = self._moved(lr, below=NO_FURTHER)
        limit, first = self.limit(lr).excess, float(self._start @ self._start) / 2
        slow, fast = (float(1 - move) ** (2 * updates) for move in (moved[0], moved[-1]))
        return (1 - slow) * limit + fast * first, (1 - fast) * limit + slow * first

    def decaying(self) -> tuple[float, float]:
        """Return c₁ and c₂ of E[h] - h* = c₁ / k + c₂ / k² + O(1/k³) + O(1/k^2λ) with α_k = 1 / (k + 1).

        λ is the smallest eigenvalue of B⁻¹H: above ½, for c₁ to lead; c₂ is seen only where it is above 1.
        """
        slowest = float(self.eigenvalues[0])
        if slowest <= 0.5:
            raise ValueError(
                f"With learning rates 1 / (k + 1) all eigenvalues of B⁻¹H must be above 1/2, the smallest is "
                f"{slowest:g}. Divide B by {1 / slowest:g} or more."
            )
        first = self.eigenvalues**2 / (2 * self.eigenvalues - 1) * self._noise.diag()
        return float(first.sum()) / 2, float(((self.eigenvalues - 1) * first).sum()) / 4

    def averaged(self, lr: float, updates: int) -> Moments:
        """Return the moments of the mean of θ_0 to θ_k, with k updates at a constant learning rate. Exact."""
        exponents = torch.arange(1, updates + 1).to(self.eigenvalues)
        left = (1 - lr * self.eigenvalues) ** exponents[:, None]  # of a distance, after 1, 2, ... updates
        mean = (1 + left.sum(dim=0)) / (updates + 1) * self._start
        return self._moments(mean, (1 - left).mT @ (1 - left) / (updates + 1) ** 2 * self._noise)

    def averaged_bound(self, lr: float, updates: int) -> float:
        """Return an upper bound of E[h] - h* of that mean: the least of three for θ_0, of two for noise."""
        self._moved(lr, below=NO_FURTHER)
        travelled, start = lr * (updates + 1), self._start
        of_noise = min(float(self._noise.trace()) / (2 * (updates + 1)), self.limit(lr).excess)
        powers = [start**2 / (travelled * self.eigenvalues) ** power for power in range(3)]
        return of_noise + min(float(squares.sum()) / 2 for squares in powers)

    def _moved(self, lr: float, *, below: float) -> Tensor:
        """Return α Λ, the share of each coordinate's distance that an update takes."""
        largest = float(self.eigenvalues[-1])
        if not 0 < lr * largest < below:
            raise ValueError(
                f"lr must be above 0 and below {below / largest:g}, which is {below:g} by the largest "
                f"eigenvalue of B⁻¹H; got {lr!r}."
            )
        return lr * self.eigenvalues

    def _moments(self, mean: Tensor, covariance: Tensor) -> Moments:
        return Moments(
            mean=self._basis @ mean,
            covariance=self._basis @ covariance @ self._basis.mT,
            excess=float(mean @ mean + covariance.trace()) / 2,
        )


def trace_of_lyapunov(a: Tensor, q: Tensor) -> float:
    """Return tr P = -½ tr(A⁻¹ Q) of A P + Pᵀ A + Q = 0 for invertible A. P may be any matrix, and unknown."""
    return -float(torch.linalg.solve(a, q).trace()) / 2
