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

    With A = L Lᵀ, B = M Mᵀ, T = L⁻¹ C M⁻ᵀ they are the squared lengths of Tᵀ E, E the eigenvectors of T Tᵀ,
    or the other way round where Tᵀ T is smaller. Lengths keep the digits of a small s, which eigenvalues
    lose. Raises NotPositiveDefiniteError for A or B, or NotFiniteError.
    """

    def __init__(self, a: Tensor, c: Tensor, b: Tensor) -> None:
        root_a, root_b = _root(a), _root(b)
        t = solve_triangular(root_a, c, upper=False)
        t = solve_triangular(root_b.mT, t, upper=True, left=False)
        self._is_turned = len(a) > len(b)
        if self._is_turned:
            root_a, root_b, t = root_b, root_a, t.mT
        self._roots = root_a, root_b
        self._vectors = eigen(t @ t.mT, "T Tᵀ", is_rough=True)[1]
        self._images = t.mT @ self._vectors
        self.squares = self._images.square().sum(dim=0)

    def coordinates(self, limit: Tensor | float) -> Canonical:
        """Return those whose s are above a limit."""
        kept = self.squares > limit
        white, other = (
            solve_triangular(root.mT, columns[:, kept], upper=True)
            for root, columns in zip(self._roots, (self._vectors, self._images), strict=True)
        )
        squares, ones = self.squares[kept], torch.ones_like(self.squares[kept])
        if self._is_turned:
            return Canonical(own=other, above=white, own_squares=squares, above_squares=ones)
        return Canonical(own=white, above=other, own_squares=ones, above_squares=squares)


def _root(matrix: Tensor) -> Tensor:
    """Return L with L Lᵀ the matrix, by float64 where its own precision does not suffice."""
    for dtype in (matrix.dtype, torch.float64):
        root, failures = torch.linalg.cholesky_ex(matrix.to(dtype))
        if not failures.item() and root.isfinite().all():
            return root.to(matrix.dtype)  # type: ignore[no-any-return]
    raise NotPositiveDefiniteError(matrix)
