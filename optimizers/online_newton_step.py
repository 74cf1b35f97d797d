"""Online Newton step (Hazan, Agarwal & Kale 2007)."""

from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.curvature.dense import LIMIT
from optimizers.held_matrix import HeldMatrix
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.woodbury import inverse_with_rows
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given


@final
class OnlineNewtonStep(HeldMatrix):
    """δ = -lr A⁻¹ ∇h, where A = ε I + Σ ∇h ∇hᵀ over the batches so far. ε is `damping`, lr is 1/β.

    A⁻¹ follows A by the formula of Sherman and Morrison. On a stream of losses that bend at least a little,
    such as strongly convex ones, what is lost by not knowing the best parameters from the beginning grows
    with the logarithm of the count: the steps shrink as one over it. The sets that the publication projects
    back to are left out.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=1e-2, high=100.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-3, high=100.0, log=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,  # 1 / β
        damping: float = 0.1,  # ε
        limit: int = LIMIT,
        group: Group = None,
    ) -> None:
        if not damping > 0:
            raise ValueError(f"damping must be above 0: it is what A begins with, got {damping!r}. Try 0.1.")
        super().__init__(model, objective, {"lr": lr, "damping": damping}, None, group, limit=limit)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, damping = (float(self.param_groups[0][name]) for name in ("lr", "damping"))
        g = gradient.double()
        with torch.no_grad(), watch.phase("solve"):
            inverse = inverse_with_rows(self._held(given.network, 1 / damping), g[None])
            update = -lr * (inverse @ g).to(gradient.dtype)
        if not update.isfinite().all():
            return None
        self._hold(inverse)
        return update, {}
