"""The covariance of gradients as a metric (Le Roux, Manzagol & Bengio 2008), without a matrix."""

import math
from typing import Any, Final, Literal, TypeAlias, final

import torch
from torch import Tensor, nn

from optimizers.curvature.dense import gradients_by_case
from optimizers.curvature.products import Jacobian, empirical_fisher, output_gradients
from optimizers.curvature.vectors import flat
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.cg import Product, conjugate_gradients
from optimizers.solvers.woodbury import solve_with_rows
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole

Solver: TypeAlias = Literal["cg", "gram"]

SOLVERS: Final = ("cg", "gram")


@final
class CovarianceNaturalGradient(Whole):
    """δ = -lr (U + λ I)⁻¹ ∇h, where U = (1/n) Σ g gᵀ is of the gradients g of the n cases of the batch.

    With `centred` it is C = (1/n) Σ (g - ḡ)(g - ḡ)ᵀ in place of U. As C = U - ḡ ḡᵀ, that changes no
    direction, for any λ: the step by C is 1 + ḡᵀ (C + λ I)⁻¹ ḡ times as long. Both are of the data's targets
    and of rank n at most: neither is the Fisher matrix, to which they come near where the model is right.

    The solver is "cg", `iterations` steps of conjugate gradients from products with U; or "gram", exact by
    the n x n matrix of all gᵀ g, for which each process has the gradients of all cases in memory.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.3, low=1e-2, high=5.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-3, high=10.0, log=True),
        Hyperparameter(name="centred", kind="boolean", default=False),
        Hyperparameter(name="iterations", kind="int", default=20, low=1, high=100, log=True),
    )
    _own = Whole._own | {"_centred", "_iterations", "_tolerance", "_solver"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.3,
        damping: float = 0.1,  # λ
        centred: bool = False,
        iterations: int = 20,
        tolerance: float = 1e-4,  # of ‖(U + λ I) d - ∇h‖ / ‖∇h‖
        solver: Solver = "cg",
        group: Group = None,
    ) -> None:
        if iterations < 1:
            raise ValueError(f"iterations counts products and must be at least 1, got {iterations!r}.")
        if solver not in SOLVERS:
            raise ValueError(f"solver is 'cg' or 'gram', got {solver!r}.")
        if not damping > 0:
            raise ValueError(f"damping must be above 0, as U has rank n at most, got {damping!r}. Try 0.1.")
        if not tolerance >= 0:
            raise ValueError(f"tolerance must be at least 0, got {tolerance!r}. Try 1e-4.")
        super().__init__(model, objective, {"lr": lr, "damping": damping}, None, group)
        self._centred, self._iterations = centred, iterations
        self._tolerance, self._solver = tolerance, solver

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, damping = (float(self.param_groups[0][name]) for name in ("lr", "damping"))
        with torch.no_grad(), watch.phase("solve"):
            if self._solver == "gram":
                direction, told = solve_with_rows(self._rows(given), gradient, damping), {}
            else:
                solved = conjugate_gradients(
                    self._product(given, damping),
                    gradient,
                    max_iterations=self._iterations,
                    progress=0.0,
                    tolerance=self._tolerance,
                )
                direction, told = solved.solution, {"iterations": solved.iterations}
        return (-lr * direction, told) if direction.isfinite().all() else None

    def _rows(self, given: Given) -> Tensor:
        """Return g / √n of all cases, or (g - ḡ) / √n."""
        own = gradients_by_case(given.network, self._objective, given.targets)
        rows = self._processes.rows_of_all(own)
        if self._centred:
            rows = rows - rows.mean(dim=0)
        return rows / math.sqrt(len(rows))

    def _product(self, given: Given, damping: float) -> Product:
        """Return v -> (U + λ I) v, or that of C = U - ḡ ḡᵀ."""
        jacobian = Jacobian(given.network, recorded=True)
        slopes = output_gradients(self._objective, jacobian.outputs, given.targets)
        [mean] = self._of_all([flat(jacobian.pull(slopes))], given.targets)

        def product(vector: Tensor) -> Tensor:
            curved = empirical_fisher(jacobian, self._objective, given.targets, vector)
            [curved] = self._of_all([curved], given.targets)
            if self._centred:
                curved = curved - mean * (mean @ vector)
            return curved + damping * vector

        return product
