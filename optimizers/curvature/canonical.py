"""Canonical coordinates of two sets of variables (Hotelling 1936).

Each coordinate of one set is correlated with a single one of the other set, and with nothing else there. In
the factors of neighbouring layers few of these correlations are large.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, final

import torch
from torch import Tensor
from torch.linalg import solve_triangular

from optimizers.errors import NotPositiveDefiniteError
from optimizers.solvers.eigen import eigen


@final
@dataclass(frozen=True, kw_only=True)
class Canonical:
    """K of one set and J of the other: Kᵀ A K = diag k², Jᵀ B J = diag j², Kᵀ C J = diag k² j².

    A and B are the second moments of the sets, C those between them. In each place one of k and j is 1 and
    the other is the correlation, so that nothing is divided by it.
    """

    own: Tensor  # K
    above: Tensor  # J
    own_squares: Tensor  # k²
    above_squares: Tensor  # j²

    @property
    def squares(self) -> Tensor:
        """The squared correlations."""
        return self.own_squares * self.above_squares

    def state_dict(self) -> dict[str, Tensor]:
        """Return its tensors."""
        return dict(vars(self))

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Tensor]) -> Self:
        """Return what another was."""
        return cls(**state)


@final
class Correlations:
    """The squared correlations s of two sets with second moments A and B, and C between them.

    With A = L Lᵀ, B = M Mᵀ they are the eigenvalues of T Tᵀ, T = L⁻¹ C M⁻ᵀ, or of Tᵀ T where that is smaller;
    all in float64. Raises NotPositiveDefiniteError for A or B, or NotFiniteError.
    """

    def __init__(self, a: Tensor, c: Tensor, b: Tensor) -> None:
        self._dtype, self._is_turned = c.dtype, len(a) > len(b)
        root_a, root_b = _root(a), _root(b)
        t = solve_triangular(root_a, c.double(), upper=False)
        t = solve_triangular(root_b.mT, t, upper=True, left=False)
        small, large, self._t = (root_b, root_a, t.mT) if self._is_turned else (root_a, root_b, t)
        self._small, self._large = small, large
        squares, self._vectors = eigen(self._t @ self._t.mT, "T Tᵀ")
        self.squares = squares.clamp(min=0)

    def coordinates(self, limit: Tensor | float) -> Canonical:
        """Return those whose s are above a limit, in the precision of C."""
        kept = self.squares > limit
        squares, vectors = self.squares[kept].to(self._dtype), self._vectors[:, kept]
        white = solve_triangular(self._small.mT, vectors, upper=True).to(self._dtype)
        other = solve_triangular(self._large.mT, self._t.mT @ vectors, upper=True).to(self._dtype)
        ones = torch.ones_like(squares)
        if self._is_turned:
            return Canonical(own=other, above=white, own_squares=squares, above_squares=ones)
        return Canonical(own=white, above=other, own_squares=ones, above_squares=squares)


def _root(matrix: Tensor) -> Tensor:
    root, failures = torch.linalg.cholesky_ex(matrix.double())
    if failures.item() or not root.isfinite().all():
        raise NotPositiveDefiniteError(matrix)
    return root  # type: ignore[no-any-return]
