"""One side of a block of curvature, F ~ A ⊗ G: a matrix, or of a wide one its diagonal alone.

(A ⊗ G) vec(V) = vec(G V A): A goes with the columns of a block's matrix V, G with its rows. Where a layer
works in groups, V is a stack of matrices and each factor a stack of as many.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import torch
from torch import Tensor

from optimizers.damping.factored import Norm, size
from optimizers.errors import NotFiniteError, NotPositiveDefiniteError
from optimizers.solvers.cholesky import precise_inverse


@final
@dataclass(frozen=True, kw_only=True)
class Factor:
    """A matrix (d, d) or a stack (groups, d, d); if diagonal, the entries there: (d) or (groups, d)."""

    values: Tensor
    diagonal: bool = False

    def dense(self) -> Tensor:
        """Return it written out."""
        return torch.diag_embed(self.values) if self.diagonal else self.values

    def size(self, norm: Norm) -> Tensor:
        """Return its norm over that of I, for each group."""
        return size(self.values, norm, diagonal=self.diagonal)

    def damped(self, strength: Tensor | float) -> "Factor":
        """Return it plus a multiple of I, one for all or one for each group."""
        amount = torch.as_tensor(strength, dtype=self.values.dtype, device=self.values.device)[..., None]
        if self.diagonal:
            return Factor(values=self.values + amount, diagonal=True)
        return Factor(values=self.values + torch.diag_embed(amount.expand(self.values.shape[:-1])))

    def cost(self) -> float:
        """Return about how many multiplications it takes to invert or decompose it."""
        return self.values.numel() * (1 if self.diagonal else self.values.shape[-1])

    def inverse(self, name: str) -> "Factor":
        """Return the inverse, by float64 where its own precision does not suffice.

        Raises NotFiniteError with the name, or NotPositiveDefiniteError.
        """
        if not self.diagonal:
            return Factor(values=precise_inverse(name, self.values))
        if not self.values.isfinite().all():
            raise NotFiniteError(name)
        if (self.values <= 0).any():
            raise NotPositiveDefiniteError(self.values)
        return Factor(values=1 / self.values, diagonal=True)

    def on_rows(self, matrix: Tensor) -> Tensor:
        """Return G V."""
        return self.values[..., :, None] * matrix if self.diagonal else self.values @ matrix

    def on_columns(self, matrix: Tensor) -> Tensor:
        """Return V A."""
        return matrix * self.values[..., None, :] if self.diagonal else matrix @ self.values


@final
@dataclass(frozen=True)
class Factors:
    """Both sides of a block, F ~ A ⊗ G."""

    inputs: Factor  # A
    outputs: Factor  # G

    def times(self, matrix: Tensor) -> Tensor:
        """Return G V A; of inverses, the preconditioned gradient."""
        return self.outputs.on_rows(self.inputs.on_columns(matrix))

    def balance(self, norm: Norm) -> Tensor:
        """Return π for each group, which splits damping by the sizes of A and G; 1 where that is undefined.

        This π minimises the bound on how far damped factors are from exact damping of their product,
        ‖X ⊗ Y‖ being ‖X‖ ‖Y‖ for each of these norms. A dead layer (G = 0) has no such π.
        """
        pi = self.inputs.size(norm).sqrt() / self.outputs.size(norm).sqrt()
        return torch.where(pi.isfinite() & (pi > 0), pi, torch.ones_like(pi))

    def damped(self, gamma: float, *, norm: Norm | None = "trace") -> "Factors":
        """Return A + π c I and G + c/π I, where c is gamma (eq. 6.7); without a norm, π = 1."""
        pi = 1.0 if norm is None else self.balance(norm)
        return Factors(inputs=self.inputs.damped(gamma * pi), outputs=self.outputs.damped(gamma / pi))

    def inverse(self, name: str) -> "Factors":
        """Return the inverses of both. Raises as `Factor.inverse` does, with the name of the block."""
        return Factors(inputs=self.inputs.inverse(f"{name}, A"), outputs=self.outputs.inverse(f"{name}, G"))

    def are_plain(self) -> bool:
        """Tell whether each is one matrix, written out."""
        return not any(side.diagonal or side.values.dim() > 2 for side in (self.inputs, self.outputs))

    def fit(self, matrix: Tensor) -> bool:
        """Tell whether they are factors of a block whose V has this shape."""
        return matrix.shape[-2:] == (self.outputs.values.shape[-1], self.inputs.values.shape[-1])

    def isfinite(self) -> bool:
        """Tell whether all rows were finite: one that is not shows in its factor's trace."""
        return all(bool(side.size("trace").isfinite().all()) for side in (self.inputs, self.outputs))

    def state_dict(self) -> dict[str, Any]:
        """Return tensors and truth values alone."""
        return {
            "inputs": self.inputs.values,
            "outputs": self.outputs.values,
            "diagonal": (self.inputs.diagonal, self.outputs.diagonal),
        }

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return what another was."""
        of_inputs, of_outputs = state["diagonal"]
        return cls(
            Factor(values=state["inputs"], diagonal=of_inputs),
            Factor(values=state["outputs"], diagonal=of_outputs),
        )


def second_moment(rows: Tensor, *, limit: float = math.inf, scale: float = 1.0) -> Factor:
    """Return Σ h hᵀ, times a number, of rows (cases, positions, d) or (cases, positions, groups, d).

    A matrix wider than the limit is kept as its diagonal.
    """
    lines = rows.flatten(end_dim=1)
    if rows.shape[-1] > limit:
        return Factor(values=scale * lines.square().sum(dim=0), diagonal=True)
    nothing, half_scale = lines.new_zeros(1), scale / 2
    if lines.dim() == 2:
        half = torch.addmm(nothing, lines.mT, lines, beta=0, alpha=half_scale)
    else:
        groups = lines.movedim(0, 1)
        half = torch.baddbmm(nothing, groups.mT, groups, beta=0, alpha=half_scale)
    return Factor(values=half + half.mT)
