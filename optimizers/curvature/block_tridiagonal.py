from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self, TypeAlias, final

import torch
from torch import Tensor

from optimizers.curvature.block_diagonal import is_cheaper, solved
from optimizers.curvature.factor import Factors
from optimizers.curvature.forms import Rows
from optimizers.curvature.matrices import Matrices
from optimizers.curvature.statistics import Statistics
from optimizers.damping.factored import Norm
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.solvers.kronecker_sum import KroneckerSum
from optimizers.solvers.outliving import Outliving

Part: TypeAlias = Factors | dict[str, Tensor]  # of a block that feeds none, its inverse; else Ψ and Σ⁻¹


@final
class BlockTridiagonal:
    """F̂⁻¹ = Ξᵀ Λ Ξ: the gradient of each block, given that of the one it feeds (Martens 2016, sec. 6.4.3).

    As if gradients of layers were a Gaussian chain, in which a layer depends on the rest through the next one
    alone: Ψ_i,i+1 = Ψ^Ā ⊗ Ψ^G predicts it, Σ_i|i+1 is what the prediction leaves. The matrix has the inverse
    on and beside the diagonal alone, and equals F̃ there. Blocks without crosses are by themselves.

    Damping is γ, split between the factors by this norm, on the diagonal alone; evenly where it is None.
    """

    uses_crosses = True

    def __init__(
        self,
        *,
        norm: Norm | None = "trace",
        kept: Outliving[Part] | None = None,
        uppers: Mapping[str, str] | None = None,
    ) -> None:
        self._norm = norm
        self._kept: Outliving[Part] = Outliving() if kept is None else kept
        self._uppers = dict(uppers or {})

    @property
    def failures(self) -> int:
        """Return how many inverses there were none of, so that the last ones were kept."""
        return self._kept.failures

    def refreshed(self, statistics: Statistics, gamma: float) -> Self:
        """Return the inverse of other factors; this one stays as it is.

        A block whose factors have no inverse keeps its last one, with a warning. Raises SingularFactorError
        where there is none, or NotFiniteError.
        """
        kept, uppers = self._kept.copy(), dict(statistics.crosses.keys())
        diagonal = {
            name: factors.damped(gamma, norm=self._norm) for name, factors in statistics.factors.items()
        }
        work: dict[str, Callable[[], Part]] = {
            name: partial(_chained, name, uppers[name], statistics, diagonal)
            if name in uppers
            else partial(factors.inverse, name)
            for name, factors in diagonal.items()
        }
        for name, compute in statistics.divided(work, kept.processes).items():
            try:
                kept.of(name, compute)
            except NotPositiveDefiniteError:
                raise SingularFactorError(name, gamma**2) from None
        return type(self)(norm=self._norm, kept=kept, uppers=uppers)

    def lacks(self, gradients: Mapping[str, Tensor]) -> bool:
        """Tell whether there is a gradient of whose block no inverse is known."""
        return any(
            name not in self._kept or not _fits(self._kept[name], gradient)
            for name, gradient in gradients.items()
        )

    def solve(self, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows] | None = None) -> Matrices:
        """Return Ξᵀ Λ Ξ v. With rows whose products v are, by them where that is cheaper.

        Blocks without a gradient are taken to have the gradient 0, and are absent from the answer.
        """
        w = {name: self._weighed(name, gradients, rows or {}) for name in gradients}
        answer = dict(w)
        for lower, upper in self._uppers.items():  # R_i = W_i - (Ψ^G)ᵀ W_i-1 Ψ^Ā
            part = self._kept[lower]
            if lower in w and upper in w and isinstance(part, dict):
                answer[upper] = answer[upper] - part["psi_g"].mT @ w[lower] @ part["psi_a"]
        return answer

    def _weighed(self, name: str, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows]) -> Tensor:
        """Return W_i = Σ_i|i+1⁻¹ U_i, where U_i = V_i - Ψ^G V_i+1 (Ψ^Ā)ᵀ is what V_i+1 does not foresee."""
        part, gradient = self._kept[name], gradients[name]
        if isinstance(part, Factors):
            return solved(part, gradient, rows.get(name))
        sigma, upper = KroneckerSum.from_state_dict(part), self._uppers[name]
        if upper not in gradients:
            return sigma.solve(gradient)
        own, following = (rows[each].lines() if each in rows else None for each in (name, upper))
        if (
            own is None
            or following is None
            or not is_cheaper(len(own[0]) + len(following[0]), *gradient.shape)
        ):
            return sigma.solve(gradient - part["psi_g"] @ gradients[upper] @ part["psi_a"].mT)
        slopes = torch.cat([own[1], -following[1] @ part["psi_g"].mT])
        return sigma.solve_rows(slopes, torch.cat([own[0], following[0] @ part["psi_a"].mT]))

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        state = self._kept.state_dict()
        kept = {
            name: part.state_dict() if isinstance(part, Factors) else part
            for name, part in state["kept"].items()
        }
        return {"uppers": dict(self._uppers), "parts": {**state, "kept": kept}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self._uppers, parts = dict(state["uppers"]), state["parts"]
        kept = {
            name: Factors.from_state_dict(part) if "inputs" in part else part
            for name, part in parts["kept"].items()
        }
        self._kept.load_state_dict({**parts, "kept": kept})


def _fits(part: Part, gradient: Tensor) -> bool:
    if isinstance(part, Factors):
        return part.fit(gradient)
    return gradient.shape == (len(part["psi_g"]), len(part["psi_a"]))


def _chained(
    name: str, upper: str, statistics: Statistics, diagonal: Mapping[str, Factors]
) -> dict[str, Tensor]:
    own, cross = diagonal[name], statistics.crosses[name, upper]
    above = diagonal[upper].inverse(upper)
    psi_a = above.inputs.on_columns(cross.inputs.values)
    psi_g = above.outputs.on_columns(cross.outputs.values)
    # Σ_i|i+1 = Ā ⊗ G - (Ψ^Ā Ā_i+1 Ψ^Āᵀ) ⊗ (Ψ^G G_i+1 Ψ^Gᵀ), where Ψ Ā_i+1 is the factor between the two
    sigma = KroneckerSum(
        own.inputs.values,
        own.outputs.values,
        psi_a @ cross.inputs.values.mT,
        psi_g @ cross.outputs.values.mT,
        sign=-1,
    )
    return {"psi_a": psi_a, "psi_g": psi_g, **sigma.state_dict()}
