from collections.abc import Mapping
from functools import partial
from typing import Any, Self, final

from torch import Tensor

from optimizers.curvature.factors import Factors, Rows
from optimizers.curvature.kronecker import precondition
from optimizers.curvature.matrices import Matrices
from optimizers.damping.factored import Norm, damped
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.solvers.cholesky import precise_inverse
from optimizers.solvers.outliving import Outliving

Inverse = dict[str, Tensor]


@final
class BlockDiagonal:
    """F̌⁻¹: the damped factors of each layer, inverted (Martens 2016, sec. 6.4.2).

    Damping is γ, split between the factors by this norm; evenly where it is None.
    """

    uses_junctions = False

    def __init__(self, *, norm: Norm | None = "trace", kept: Outliving[Inverse] | None = None) -> None:
        self._norm = norm
        self._kept: Outliving[Inverse] = Outliving() if kept is None else kept

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
        for name, a in factors.inputs.items():
            pair = damped(a, factors.outputs[name], gamma=gamma, norm=self._norm)
            try:
                kept.of(name, partial(inverses, name, *pair))
            except NotPositiveDefiniteError:
                raise SingularFactorError(name, gamma**2) from None
        return type(self)(norm=self._norm, kept=kept)

    def solve(self, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows] | None = None) -> Matrices:
        """Return G⁻¹ V A⁻¹ of each layer. With rows whose products V are, by them where that is cheaper."""
        return {
            name: solved(self._kept[name], gradient, None if rows is None else rows[name])
            for name, gradient in gradients.items()
        }

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return self._kept.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        self._kept.load_state_dict(state)


def inverses(name: str, a: Tensor, g: Tensor) -> Inverse:
    """Return those of a layer's damped factors. Raises NotFiniteError, or NotPositiveDefiniteError."""
    return {
        "inputs": precise_inverse(f"{name}, inputs", a),
        "outputs": precise_inverse(f"{name}, outputs", g),
    }


def solved(inverse: Inverse, gradient: Tensor, rows: Rows | None) -> Tensor:
    """Return G⁻¹ V A⁻¹; for V = XᵀY of rows fewer than the layer is wide, as (G⁻¹ Xᵀ)(Y A⁻¹)."""
    if rows is not None and is_cheaper(len(rows.inputs), *gradient.shape):
        return (inverse["outputs"] @ rows.slopes[0].mT) @ (rows.inputs @ inverse["inputs"])
    return precondition(gradient, inverse["inputs"], inverse["outputs"])


def is_cheaper(cases: int, outputs: int, inputs: int) -> bool:
    """Return whether a product from both sides costs less by so many rows than by the matrix."""
    whole = outputs * inputs * (outputs + inputs)  # multiplications
    return cases * (outputs**2 + inputs**2 + outputs * inputs) < whole
