"""Rates for single parameters that descend on the loss themselves (Schraudolph 1999)."""

from typing import final

from torch import Tensor, nn

from optimizers.curvature.products import CURVATURES, WORTH_A_SEARCH, Curvature, product_with
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.remembering import Remembering, Vectors
from optimizers.whole import Given

LEAST = 0.5  # of a rate: what an update leaves at least


@final
class StochasticMetaDescent(Remembering):
    """δ = -p ⊙ g, with rates p that descend along the gradient of the loss in their logarithms.

        p ← p ⊙ max(½, 1 - meta_lr g ⊙ v),   v ← memory v - p ⊙ (g + memory B v)

    v says how the parameters depend on all log-rates of the past together, as far back as `memory` reaches:
    for memory 1 and the exact Hessian it is dθ/ds where all of them are shifted by s. p begins with lr.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.01, low=1e-4, high=1.0, log=True),
        Hyperparameter(name="meta_lr", kind="float", default=0.02, low=1e-3, high=100.0, log=True),
        Hyperparameter(name="memory", kind="float", default=0.99, low=0.0, high=1.0),
        Hyperparameter(name="curvature", kind="categorical", default="gauss_newton", choices=WORTH_A_SEARCH),
    )
    _keeps = ("log_rates", "sensitivity")
    _own = Remembering._own | {"_of"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.01,
        meta_lr: float = 0.02,  # μ
        memory: float = 0.99,  # λ
        curvature: Curvature = "gauss_newton",
        group: Group = None,
    ) -> None:
        if not 0 <= memory <= 1:
            raise ValueError(f"memory must be from 0 to 1, got {memory!r}. Try 0.99.")
        if curvature not in CURVATURES:
            raise ValueError(f"curvature is one of {', '.join(CURVATURES)}; got {curvature!r}.")
        super().__init__(model, objective, {"lr": lr, "meta_lr": meta_lr, "memory": memory}, None, group)
        self._of: Curvature = curvature

    def _rule(self, given: Given, gradient: Tensor, kept: Vectors) -> tuple[Tensor, Vectors]:
        lr, meta_lr, memory = (float(self.param_groups[0][name]) for name in ("lr", "meta_lr", "memory"))
        v = kept["sensitivity"]
        log_rates = kept["log_rates"] + (1 - meta_lr * gradient * v).clamp(min=LEAST).log()
        rates = lr * log_rates.exp()
        product = product_with(self._of, given.network, self._objective, given.targets)
        [curved] = self._of_all([product(v)], given.targets)
        update = -rates * gradient
        return update, {
            "log_rates": log_rates,
            "sensitivity": memory * v + update - memory * rates * curved,
        }
