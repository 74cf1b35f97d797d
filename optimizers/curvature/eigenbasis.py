from collections.abc import Mapping
from functools import partial
from typing import Any, Self, final

import torch
from torch import Tensor

from optimizers.curvature.factors import Factors, Rows
from optimizers.curvature.matrices import Matrices
from optimizers.solvers.eigen import eigen
from optimizers.solvers.outliving import Outliving

Basis = dict[str, Tensor]  # "inputs" U_A, "outputs" U_G; "values", the products of their eigenvalues


@final
class Eigenbasis:
    """Each block as U diag(s) Uᵀ in the eigenbasis U = U_A ⊗ U_G of its factors (George et al. 2018).

    s are the mean squares of the gradients of cases in that basis, which makes it the best such matrix; the
    products of the factors' eigenvalues, which K-FAC takes, are where they begin.
    """

    def __init__(
        self, kept: Outliving[Basis] | None = None, moments: Mapping[str, Tensor] | None = None
    ) -> None:
        self._kept: Outliving[Basis] = Outliving() if kept is None else kept
        self.moments: Matrices = dict(moments or {})  # s

    @property
    def failures(self) -> int:
        """Return how many decompositions there were none of, so that the last ones were kept."""
        return self._kept.failures

    def refreshed(self, factors: Factors) -> Self:
        """Return the bases of other factors; these stay as they are.

        A layer whose factors have none keeps its last one and its s, with a warning. Raises NotFiniteError or
        NotConvergedError where there is none.
        """
        kept, moments = self._kept.copy(), {}
        for name in factors.inputs:
            failures = kept.failures
            basis = kept.of(name, partial(_basis, name, factors))
            moments[name] = basis["values"] if kept.failures == failures else self.moments[name]
        return type(self)(kept, moments)

    def note(self, rows: Mapping[str, Rows], decay: float) -> None:
        """Average the mean squares of these cases into s."""
        for name, seen in rows.items():
            squares = _mean_squares(self._kept[name], seen)
            self.moments[name] = torch.lerp(squares, self.moments[name], decay, out=squares)

    def solve(
        self, gradients: Mapping[str, Tensor], damping: float, rows: Mapping[str, Rows] | None = None
    ) -> Matrices:
        """Return U_G [(U_Gᵀ V U_A) / (s + λ)] U_Aᵀ; by rows whose products V are, if they are few."""
        solved = {}
        for name, gradient in gradients.items():
            basis, of_layer = self._kept[name], None if rows is None else rows[name]
            turned = _turned(basis, gradient, of_layer).div_(self.moments[name] + damping)
            solved[name] = basis["outputs"] @ turned @ basis["inputs"].mT
        return solved

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return {"bases": self._kept.state_dict(), "moments": dict(self.moments)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what another returned."""
        self._kept.load_state_dict(state["bases"])
        self.moments = dict(state["moments"])


def _basis(name: str, factors: Factors) -> Basis:
    of_inputs, inputs = eigen(factors.inputs[name], f"{name}, inputs", is_rough=True)
    of_outputs, outputs = eigen(factors.outputs[name], f"{name}, outputs", is_rough=True)
    values = torch.outer(of_outputs.clamp(min=0), of_inputs.clamp(min=0))
    return {"inputs": inputs, "outputs": outputs, "values": values}


def _turned(basis: Basis, gradient: Tensor, rows: Rows | None) -> Tensor:
    """Return U_Gᵀ V U_A."""
    if rows is not None and len(rows.inputs) < min(gradient.shape) / 2:
        return (rows.slopes[0] @ basis["outputs"]).mT @ (rows.inputs @ basis["inputs"])
    return basis["outputs"].mT @ gradient @ basis["inputs"]


def _mean_squares(basis: Basis, rows: Rows) -> Tensor:
    """Return the mean over cases of (U_Gᵀ g āᵀ U_A)², an outer product squared for each case."""
    cases = len(rows.inputs)  # rows hold g/n: n² (1/n) Σ ((U_Gᵀ g/n)(U_Aᵀ ā)ᵀ)²
    outputs = torch.stack([cases * (slopes @ basis["outputs"]).square() for slopes in rows.slopes]).sum(dim=0)
    return outputs.mT @ (rows.inputs @ basis["inputs"]).square()
