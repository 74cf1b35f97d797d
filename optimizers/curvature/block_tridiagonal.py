from collections.abc import Mapping
from functools import partial
from typing import Any, Self, final

import torch
from torch import Tensor

from optimizers.curvature.block_diagonal import inverses, is_cheaper, solved
from optimizers.curvature.factors import Factors, Rows
from optimizers.curvature.matrices import Matrices
from optimizers.damping.factored import Norm, damped
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.solvers.kronecker_sum import KroneckerSum
from optimizers.solvers.outliving import Outliving

Part = dict[str, Tensor]  # of a layer that feeds none: "inputs", "outputs"; else Ψ and Σ⁻¹


@final
class BlockTridiagonal:
    """F̂⁻¹ = Ξᵀ Λ Ξ: the gradient of each layer, given that of the one it feeds (Martens 2016, sec. 6.4.3).

    As if gradients of layers were a Gaussian chain, in which a layer depends on the rest through the next one
    alone: Ψ_i,i+1 = Ψ^Ā ⊗ Ψ^G predicts it, Σ_i|i+1 is what the prediction leaves. The matrix has the inverse
    on and beside the diagonal alone, and equals F̃ there. Layers without a junction are blocks of their own.

    Damping is γ, split between the factors by this norm, on the diagonal alone; evenly where it is None.
    """

    uses_junctions = True

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

    def refreshed(self, factors: Factors, gamma: float) -> Self:
        """Return the inverse of other factors; this one stays as it is.

        A layer whose factors have no inverse keeps its last one, with a warning. Raises SingularFactorError
        where there is none, or NotFiniteError.
        """
        kept = self._kept.copy()
        diagonal = {
            name: damped(a, factors.outputs[name], gamma=gamma, norm=self._norm)
            for name, a in factors.inputs.items()
        }
        for name in factors.inputs:
            try:
                kept.of(name, partial(_part, name, factors, diagonal))
            except NotPositiveDefiniteError:
                raise SingularFactorError(name, gamma**2) from None
        uppers = {lower: junction.upper for lower, junction in factors.junctions.items()}
        return type(self)(norm=self._norm, kept=kept, uppers=uppers)

    def solve(self, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows] | None = None) -> Matrices:
        """Return Ξᵀ Λ Ξ v. With rows whose products v are, by them where that is cheaper."""
        w = {name: self._weighed(name, gradients, rows) for name in gradients}
        answer = dict(w)
        for lower, upper in self._uppers.items():  # R_i = W_i - (Ψ^G)ᵀ W_i-1 Ψ^Ā
            part = self._kept[lower]
            answer[upper] = answer[upper] - part["psi_g"].mT @ w[lower] @ part["psi_a"]
        return answer

    def _weighed(self, name: str, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows] | None) -> Tensor:
        """Return W_i = Σ_i|i+1⁻¹ U_i, where U_i = V_i - Ψ^G V_i+1 (Ψ^Ā)ᵀ is what V_i+1 does not foresee."""
        part, gradient = self._kept[name], gradients[name]
        if name not in self._uppers:
            return solved(part, gradient, None if rows is None else rows[name])
        upper, sigma = self._uppers[name], KroneckerSum.from_state_dict(part)
        if rows is None or not is_cheaper(2 * len(rows[name].inputs), *gradient.shape):
            return sigma.solve(gradient - part["psi_g"] @ gradients[upper] @ part["psi_a"].mT)
        own, following = rows[name], rows[upper]
        slopes = torch.cat([own.slopes[0], -following.slopes[0] @ part["psi_g"].mT])
        return sigma.solve_rows(slopes, torch.cat([own.inputs, following.inputs @ part["psi_a"].mT]))

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return {"uppers": dict(self._uppers), "parts": self._kept.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self._uppers = dict(state["uppers"])
        self._kept.load_state_dict(state["parts"])


def _part(name: str, factors: Factors, diagonal: Mapping[str, tuple[Tensor, Tensor]]) -> Part:
    a, g = diagonal[name]
    if name not in factors.junctions:
        return inverses(name, a, g)
    junction = factors.junctions[name]
    upper = inverses(junction.upper, *diagonal[junction.upper])
    psi_a, psi_g = junction.inputs @ upper["inputs"], junction.outputs @ upper["outputs"]
    # Σ_i|i+1 = Ā ⊗ G - (Ψ^Ā Ā_i+1 Ψ^Āᵀ) ⊗ (Ψ^G G_i+1 Ψ^Gᵀ), where Ψ Ā_i+1 is the factor between the two
    sigma = KroneckerSum(a, g, psi_a @ junction.inputs.mT, psi_g @ junction.outputs.mT, sign=-1)
    return {"psi_a": psi_a, "psi_g": psi_g, **sigma.state_dict()}
