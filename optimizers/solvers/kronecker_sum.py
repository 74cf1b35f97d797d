"""Inverses of sums of two Kronecker products (Martens 2016, appendix B.2), times a vector.

With vec() stacking columns, (A ⊗ B) vec(V) = vec(B V Aᵀ). All matrices are symmetric; A and B are positive
definite.
"""

from typing import final

from torch import Tensor

from optimizers.solvers.cholesky import inverse
from optimizers.solvers.eigen import diagonalised, eigen

FLOOR = 1e-8  # of the eigenvalues of a difference, which rounding may bring to 0 or below


@final
class KroneckerSum:
    """(A ⊗ B ± C ⊗ D)⁻¹, ready for products. Raises NotPositiveDefiniteError for A or B, NotFiniteError.

    With A = L Lᵀ, L⁻¹ C L⁻ᵀ = E₁ S₁ E₁ᵀ, and the same of B and D, K₁ = L⁻ᵀ E₁ and K₂ make the sum diagonal:
    1 1ᵀ ± s₂ s₁ᵀ. Any root L does; Cholesky's spares the eigenvectors of A and B.
    """

    def __init__(self, a: Tensor, b: Tensor, c: Tensor, d: Tensor, *, sign: int = 1) -> None:
        s1, k1 = diagonalised(a, c, "C relative to A")
        s2, k2 = diagonalised(b, d, "D relative to B")
        self._k1, self._k2 = k1.to(a.dtype), k2.to(b.dtype)
        diagonal = (1 + sign * s2[:, None] * s1[None, :]).clamp(min=FLOOR)
        self._diagonal = diagonal.to(a.dtype)

    def solve(self, matrix: Tensor) -> Tensor:
        """Return U with (A ⊗ B ± C ⊗ D) vec(U) = vec(V): K₂ [(K₂ᵀ V K₁) / (1 1ᵀ ± s₂ s₁ᵀ)] K₁ᵀ."""
        return self._k2 @ ((self._k2.T @ matrix @ self._k1) / self._diagonal) @ self._k1.T


@final
class ShiftedKronecker:
    """(ξ I ⊗ I ± C ⊗ D)⁻¹, ready for products: exact Tikhonov damping of C ⊗ D with strength ξ."""

    def __init__(self, c: Tensor, d: Tensor, *, shift: float, sign: int = 1) -> None:
        s1, self._e1 = eigen(c, "C")
        s2, self._e2 = eigen(d, "D")
        self._diagonal = shift + sign * s2[:, None] * s1[None, :]

    def solve(self, matrix: Tensor) -> Tensor:
        """Return E₂ [(E₂ᵀ V E₁) / (ξ 1 1ᵀ ± s₂ s₁ᵀ)] E₁ᵀ."""
        return self._e2 @ ((self._e2.T @ matrix @ self._e1) / self._diagonal) @ self._e1.T


def stein(
    a: Tensor, b: Tensor, c: Tensor, d: Tensor, matrix: Tensor, *, sign: int = 1, doublings: int = 20
) -> Tensor:
    """Return the same as KroneckerSum(...).solve(matrix), by Smith's iteration with squaring.

    B U A ± D U C = V is the Stein equation U = X + P U Q with X = B⁻¹ V A⁻¹, P = ∓ B⁻¹ D, Q = C A⁻¹; each
    doubling sums twice as many terms of its series. They converge where max s₁ s₂ < 1, and 2^doublings must
    exceed about 36 / (1 - max s₁ s₂) for full precision.
    """
    inverse_a, inverse_b = inverse(a), inverse(b)
    x, p, q = inverse_b @ matrix @ inverse_a, -sign * inverse_b @ d, c @ inverse_a
    for _ in range(doublings):
        x = x + p @ x @ q
        p, q = p @ p, q @ q
    return x
