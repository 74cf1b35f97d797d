from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Self, final

from torch import Tensor

from optimizers.curvature.factor import Factors
from optimizers.curvature.forms import Rows
from optimizers.curvature.matrices import Matrices
from optimizers.curvature.statistics import Statistics
from optimizers.damping.factored import Norm
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.solvers.outliving import Outliving


@final
class BlockDiagonal:
    """F̌⁻¹: the damped factors of each block, inverted (Martens 2016, sec. 6.4.2).

    Damping is γ, split between the factors by this norm; evenly where it is None.
    """

    uses_crosses = False

    def __init__(self, *, norm: Norm | None = "trace", kept: Outliving[Factors] | None = None) -> None:
        self._norm = norm
        self._kept: Outliving[Factors] = Outliving() if kept is None else kept

    @property
    def failures(self) -> int:
        """Return how many inverses there were none of, so that the last ones were kept."""
        return self._kept.failures

    def refreshed(self, statistics: Statistics, gamma: float, *, only: Collection[str] | None = None) -> Self:
        """Return the inverse of other factors, of some blocks alone if told; this one stays as it is.

        A block whose factors have no inverse keeps its last one, with a warning. Raises SingularFactorError
        where there is none, or NotFiniteError.
        """
        kept = self._kept.copy()
        names = statistics.factors if only is None else only
        work = {name: partial(_inverted, name, statistics.factors[name], gamma, self._norm) for name in names}
        for name, compute in statistics.divided(work, kept.processes).items():
            try:
                kept.of(name, compute)
            except NotPositiveDefiniteError:
                raise SingularFactorError(name, gamma**2) from None
        return type(self)(norm=self._norm, kept=kept)

    def lacks(self, gradients: Mapping[str, Tensor]) -> bool:
        """Tell whether there is a gradient of whose block no inverse is known."""
        return any(
            name not in self._kept or not self._kept[name].fit(gradient)
            for name, gradient in gradients.items()
        )

    def solve(self, gradients: Mapping[str, Tensor], rows: Mapping[str, Rows] | None = None) -> Matrices:
        """Return G⁻¹ V A⁻¹ of each block. With rows whose products V are, by them where that is cheaper."""
        return {
            name: solved(self._kept[name], gradient, (rows or {}).get(name))
            for name, gradient in gradients.items()
        }

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        state = self._kept.state_dict()
        return {**state, "kept": {name: each.state_dict() for name, each in state["kept"].items()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what another returned."""
        kept = {name: Factors.from_state_dict(each) for name, each in state["kept"].items()}
        self._kept.load_state_dict({**state, "kept": kept})


def _inverted(name: str, factors: Factors, gamma: float, norm: Norm | None) -> Factors:
    return factors.damped(gamma, norm=norm).inverse(name)


def solved(inverse: Factors, gradient: Tensor, rows: Rows | None) -> Tensor:
    """Return G⁻¹ V A⁻¹; for V = XᵀY of rows fewer than the block is wide, as (G⁻¹ Xᵀ)(Y A⁻¹)."""
    lines = rows.lines() if rows is not None and inverse.are_plain() else None
    if lines is not None and is_cheaper(len(lines[0]), *gradient.shape):
        h, g = lines
        return inverse.outputs.on_rows(g.mT) @ inverse.inputs.on_columns(h)
    return inverse.times(gradient)


def is_cheaper(rows: int, outputs: int, inputs: int) -> bool:
    """Return whether a product from both sides costs less by so many rows than by the matrix."""
    whole = outputs * inputs * (outputs + inputs)  # multiplications
    return rows * (outputs**2 + inputs**2 + outputs * inputs) < whole
