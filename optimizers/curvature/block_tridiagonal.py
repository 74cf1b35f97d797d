from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeAlias, final

import torch
from torch import Tensor
from torch.linalg import multi_dot

from optimizers.curvature.block_diagonal import is_cheaper, solved
from optimizers.curvature.canonical import Canonical, Correlations
from optimizers.curvature.factor import Factors
from optimizers.curvature.forms import Rows
from optimizers.curvature.matrices import Matrices
from optimizers.curvature.statistics import Statistics
from optimizers.damping.factored import Norm
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.solvers.outliving import Outliving

FLOOR = 1e-8  # of 1 - s, which rounding may bring to 0 or below
Chain: TypeAlias = tuple[Tensor, ...]  # matrices whose product is meant


@final
@dataclass(frozen=True, kw_only=True)
class Foresight:
    """What the gradient of the block above foresees of a block's own, in coordinates of their factors."""

    upper: str  # the block above
    inputs: Canonical
    outputs: Canonical

    @classmethod
    def between(cls, own: Factors, cross: Factors, above: Factors, *, upper: str) -> Self:
        """Return it for the damped factors of two blocks, and between. Raises as `Correlations` does."""
        a = Correlations(own.inputs.values, cross.inputs.values, above.inputs.values)
        g = Correlations(own.outputs.values, cross.outputs.values, above.outputs.values)
        # A product below is rounding of the factors, as a small singular value may be of a matrix.
        width = max(cross.inputs.values.shape + cross.outputs.values.shape)
        limit = (width * torch.finfo(cross.inputs.values.dtype).eps) ** 2
        return cls(
            upper=upper,
            inputs=a.coordinates(limit / g.squares.max()),
            outputs=g.coordinates(limit / a.squares.max()),
        )

    def of(self, own: Chain, above: Chain | None) -> tuple[Tensor, Tensor]:
        """Return W_i - G⁻¹ V_i A⁻¹ and (Ψ^G)ᵀ W_i Ψ^A, of the gradients V_i and V_i+1; None is 0.

        In these coordinates Σ⁻¹ is 1 / (1 - c²), c the product of a correlation of A and one of G.
        """
        a, g = self.inputs, self.outputs
        p = multi_dot([g.own.mT, *own, a.own])
        q = torch.zeros_like(p) if above is None else multi_dot([g.above.mT, *above, a.above])
        left = (1 - g.squares.outer(a.squares)).clamp(min=FLOOR)
        z = (p - g.own_squares.outer(a.own_squares) * q) / left
        change = g.above_squares.outer(a.above_squares) * z - q
        return multi_dot([g.own, change, a.own.mT]), multi_dot([g.above, z, a.above.mT])


@final
@dataclass(frozen=True, kw_only=True)
class Part:
    """What is known of a block: its inverse factors, and where another follows what that one foresees."""

    inverse: Factors
    foresight: Foresight | None = None

    def state_dict(self) -> dict[str, Any]:
        """Return dictionaries of tensors and truth values."""
        state, told = {"inverse": self.inverse.state_dict()}, self.foresight
        if told is None:
            return state
        return {**state, "upper": told.upper, "a": told.inputs.state_dict(), "g": told.outputs.state_dict()}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return what another was."""
        foresight = None
        if "upper" in state:
            a, g = (Canonical.from_state_dict(state[side]) for side in ("a", "g"))
            foresight = Foresight(upper=state["upper"], inputs=a, outputs=g)
        return cls(inverse=Factors.from_state_dict(state["inverse"]), foresight=foresight)


@final
class BlockTridiagonal:
    """F̂⁻¹ = Ξᵀ Λ Ξ: the gradient of each block, given that of the one it feeds (Martens 2016, sec. 6.4.3).

    As if gradients of layers were a Gaussian chain, in which a layer depends on the rest through the next one
    alone: Ψ_i,i+1 = Ψ^Ā ⊗ Ψ^G predicts it, Σ_i|i+1 is what the prediction leaves. The matrix has the inverse
    on and beside the diagonal alone, and equals F̃ there. Blocks without crosses are by themselves.

    Damping is γ, split between the factors by this norm, on the diagonal alone; evenly where it is None.
    """

    uses_crosses = True

    def __init__(self, *, norm: Norm | None = "trace", kept: Outliving[Part] | None = None) -> None:
        self._norm = norm
        self._kept: Outliving[Part] = Outliving() if kept is None else kept

    @property
    def failures(self) -> int:
        """Return how many inverses there were none of, so that the last ones were kept."""
        return self._kept.failures

    def refreshed(self, statistics: Statistics, gamma: float, *, only: Collection[str] | None = None) -> Self:
        """Return the inverse of other factors, of some blocks alone if told; this one stays as it is.

        A block whose factors have no inverse keeps its last one, with a warning. Raises SingularFactorError
        where there is none, or NotFiniteError.
        """
        kept, uppers = self._kept.copy(), dict(statistics.crosses.keys())
        names = statistics.factors if only is None else only
        work = {name: partial(_part, name, uppers.get(name), statistics, gamma, self._norm) for name in names}
        for name, compute in statistics.divided(work, kept.processes).items():
            try:
                kept.of(name, compute)
            except NotPositiveDefiniteError:
                raise SingularFactorError(name, gamma**2) from None
        return type(self)(norm=self._norm, kept=kept)

    def lacks(self, gradients: Mapping[str, Tensor]) -> bool:
        """Tell whether there is a gradient of whose block no inverse is known."""
        return any(
            name not in self._kept or not self._kept[name].inverse.fit(gradient)
            for name, gradient in gradients.items()
        )

    def solve(self, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows] | None = None) -> Matrices:
        """Return Ξᵀ Λ Ξ v. With rows whose products v are, by them where that is cheaper.

        Blocks without a gradient are taken to have the gradient 0, and are absent from the answer.
        """
        known = rows or {}
        chains = {name: _chain(gradient, known.get(name)) for name, gradient in gradients.items()}
        answer = {
            name: solved(self._kept[name].inverse, gradient, known.get(name))
            for name, gradient in gradients.items()
        }
        for name in answer:
            foresight = self._kept[name].foresight
            if foresight is None:
                continue
            change, foreseen = foresight.of(chains[name], chains.get(foresight.upper))
            answer[name] += change
            if foresight.upper in answer:  # R_i = W_i - (Ψ^G)ᵀ W_i-1 Ψ^Ā
                answer[foresight.upper] -= foreseen
        return answer

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        state = self._kept.state_dict()
        kept = {name: part.state_dict() for name, part in state["kept"].items()}
        return {**state, "kept": kept}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        kept = {name: Part.from_state_dict(part) for name, part in state["kept"].items()}
        self._kept.load_state_dict({**state, "kept": kept})


def _chain(gradient: Tensor, rows: Rows | None) -> Chain:
    lines = None if rows is None else rows.lines()
    if lines is None or not is_cheaper(len(lines[0]), *gradient.shape):
        return (gradient,)
    return lines[1].mT, lines[0]


def _part(name: str, upper: str | None, statistics: Statistics, gamma: float, norm: Norm | None) -> Part:
    own = statistics.factors[name].damped(gamma, norm=norm)
    inverse = own.inverse(name)
    if upper is None:
        return Part(inverse=inverse)
    above = statistics.factors[upper].damped(gamma, norm=norm)
    cross = statistics.crosses[name, upper]
    return Part(inverse=inverse, foresight=Foresight.between(own, cross, above, upper=upper))
