from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeAlias, final

import torch
from torch import Tensor
from torch.linalg import multi_dot

from optimizers.curvature.factor import Factor, Factors
from optimizers.curvature.forms import Rows
from optimizers.curvature.matrices import Matrices
from optimizers.curvature.statistics import Statistics
from optimizers.solvers.eigen import eigen
from optimizers.solvers.outliving import Outliving

# "inputs" U_A, "outputs" U_G, None where the factor is diagonal; "values", the products of their eigenvalues
Basis: TypeAlias = dict[str, Any]

AT_ONCE = 2**24  # entries of gradients of cases that are in memory together


@final
class Eigenbasis:
    """Each block as U diag(s) Uᵀ in the eigenbasis U = U_A ⊗ U_G of its factors (George et al. 2018).

    s are the mean squares of the gradients of cases in that basis, which makes it the best such matrix; the
    products of the factors' eigenvalues, which K-FAC takes, are where they begin. A diagonal factor is its
    own basis.
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

    def refreshed(self, statistics: Statistics, *, only: Collection[str] | None = None) -> Self:
        """Return the bases of other factors, of some blocks alone if told; these stay as they are.

        A block whose factors have none keeps its last one and its s, with a warning. Raises NotFiniteError or
        NotConvergedError where there is none.
        """
        kept, moments = self._kept.copy(), dict(self.moments)
        names = statistics.factors if only is None else only
        work = {name: partial(_basis, name, statistics.factors[name]) for name in names}
        for name, compute in statistics.divided(work, kept.processes).items():
            failures = kept.failures
            basis = kept.of(name, compute)
            if kept.failures == failures:
                moments[name] = basis["values"]
        return type(self)(kept, moments)

    def lacks(self, gradients: Mapping[str, Tensor]) -> bool:
        """Tell whether there is a gradient of whose block no basis is known."""
        return any(
            name not in self.moments or self.moments[name].shape != gradient.shape
            for name, gradient in gradients.items()
        )

    def note(self, rows: Sequence[Mapping[str, Rows]], decay: float, *, cases: int = 1) -> None:
        """Average the mean squares of cases into s; those of several slopes are added.

        `cases` is how many they are, which counts beside those of other processes.
        """
        squares = {name: _squares(self._kept[name], each) for name, each in rows[0].items()}
        for of_slope in rows[1:]:
            for name in squares:
                squares[name] += _squares(self._kept[name], of_slope[name])
        means = self._kept.processes.means(squares.values(), cases)
        for name, mean in zip(squares, means, strict=True):
            self.moments[name] = mean.lerp_(self.moments[name], decay)

    def solve(
        self,
        gradients: Mapping[str, Tensor],
        damping: float | Mapping[str, float],
        rows: Mapping[str, Rows] | None = None,
    ) -> Matrices:
        """Return U_G [(U_Gᵀ V U_A) / (s + λ)] U_Aᵀ, with one λ or one for each block.

        By rows whose products V are, if they are few.
        """
        solved = {}
        for name, gradient in gradients.items():
            own = damping[name] if isinstance(damping, Mapping) else damping
            of_block = (rows or {}).get(name)
            solved[name] = _solved(self._kept[name], self.moments[name], own, gradient, of_block)
        return solved

    def state_dict(self) -> dict[str, Any]:
        """Return all that a resumed run needs."""
        return {"bases": self._kept.state_dict(), "moments": dict(self.moments)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what another returned."""
        self._kept.load_state_dict(state["bases"])
        self.moments = dict(state["moments"])


def _basis(name: str, factors: Factors) -> Basis:
    of_inputs, inputs = _decomposed(factors.inputs, f"{name}, inputs")
    of_outputs, outputs = _decomposed(factors.outputs, f"{name}, outputs")
    values = of_outputs.clamp(min=0)[..., :, None] * of_inputs.clamp(min=0)[..., None, :]
    return {"inputs": inputs, "outputs": outputs, "values": values}


def _decomposed(factor: Factor, name: str) -> tuple[Tensor, Tensor | None]:
    return (factor.values, None) if factor.diagonal else eigen(factor.values, name, is_rough=True)


def _solved(basis: Basis, s: Tensor, damping: float, gradient: Tensor, rows: Rows | None) -> Tensor:
    few = _felt(basis, s, damping)
    if few is None:
        turned = _turned(basis, gradient, rows) / (s + damping)
        return _on_rows(basis["outputs"], _on_columns(turned, basis["inputs"], back=True))
    basis, s = few
    turned = _turned(basis, gradient, rows) * (s / (s + damping))
    bent: Tensor = multi_dot([basis["outputs"], turned, basis["inputs"].mT])
    return (gradient - bent) / damping


def _felt(basis: Basis, s: Tensor, damping: float) -> tuple[Basis, Tensor] | None:
    """Return the vectors with s that is not rounded away beside damping, and that s, if they are few.

    Along all others V is divided by damping, which takes no product with them.
    """
    if s.dim() > 2 or basis["inputs"] is None or basis["outputs"] is None:
        return None
    felt = s > torch.finfo(s.dtype).eps * damping
    outputs, inputs = felt.any(dim=1), felt.any(dim=0)
    if 2 * int(outputs.sum()) * int(inputs.sum()) > s.numel():
        return None
    few = {"inputs": basis["inputs"][:, inputs], "outputs": basis["outputs"][:, outputs]}
    return few, s[outputs][:, inputs]


def _on_columns(matrix: Tensor, vectors: Tensor | None, *, back: bool = False) -> Tensor:
    if vectors is None:
        return matrix
    return matrix @ (vectors.mT if back else vectors)


def _on_rows(vectors: Tensor | None, matrix: Tensor) -> Tensor:
    return matrix if vectors is None else vectors @ matrix


def _turned(basis: Basis, gradient: Tensor, rows: Rows | None) -> Tensor:
    """Return U_Gᵀ V U_A."""
    lines = None if rows is None else rows.lines()
    if lines is not None and len(lines[0]) < min(gradient.shape) / 2:
        h, g = lines
        return _on_columns(g, basis["outputs"]).mT @ _on_columns(h, basis["inputs"])
    of_outputs = basis["outputs"]
    turned = gradient if of_outputs is None else of_outputs.mT @ gradient
    return _on_columns(turned, basis["inputs"])


def _squares(basis: Basis, rows: Rows) -> Tensor:
    """Return the sum over cases of (U_Gᵀ V U_A)², V the gradient of a case: its rows hold g / √n."""
    g = _along(rows.outputs, basis["outputs"])
    if not rows.inputs.is_floating_point():  # a table knows positions, not cases
        return replace(rows, outputs=g.square()).gradient()
    h = _along(rows.inputs, basis["inputs"])
    if rows.outputs.shape[1] == 1:  # an outer product, squared
        return replace(rows, inputs=h.square(), outputs=g.square()).gradient()
    cases = max(1, AT_ONCE // (h.shape[-1] * g[0, 0].numel()))
    total = g.new_zeros(basis["values"].shape)
    for some_g, some_h in zip(g.split(cases), h.split(cases), strict=True):
        total += torch.einsum("np...o,np...i->n...oi", some_g, some_h).square().sum(dim=0)
    return total


def _along(rows: Tensor, vectors: Tensor | None) -> Tensor:
    """Return each row in another basis, in that of its group where there are groups."""
    if vectors is None:
        return rows
    return rows @ vectors if vectors.dim() == 2 else (rows.unsqueeze(-2) @ vectors).squeeze(-2)
