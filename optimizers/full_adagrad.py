"""AdaGrad with its whole matrix (Duchi, Hazan & Singer 2011)."""

from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.held_matrix import HeldMatrix
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.eigen import eigen
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given

LIMIT = 2000  # parameters; an eigen-decomposition of so many takes seconds, in each update


@final
class FullAdaGrad(HeldMatrix):
    """δ = -lr (ε I + Σ ∇h ∇hᵀ)^(-1/2) ∇h, the sum over the batches so far. ε is `damping`.

    Torch's Adagrad takes the diagonal of the matrix alone. With all of it a rotation of the parameters
    rotates the steps, and changes nothing else.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.5, low=1e-2, high=3.0, log=True),
        Hyperparameter(name="damping", kind="float", default=1e-2, low=1e-6, high=1.0, log=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.5,
        damping: float = 1e-2,  # ε
        limit: int = LIMIT,
        group: Group = None,
    ) -> None:
        if not damping > 0:
            raise ValueError(
                f"damping must be above 0, as the sum has few directions, got {damping!r}. Try 0.01."
            )
        super().__init__(model, objective, {"lr": lr, "damping": damping}, None, group, limit=limit)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, damping = (float(self.param_groups[0][name]) for name in ("lr", "damping"))
        g = gradient.double()
        with torch.no_grad(), watch.phase("solve"):
            total = torch.addr(self._held(given.network, 0.0), g, g)
            if not total.isfinite().all():
                return None
            values, vectors = eigen(total, "sum of squared gradients")
            roots = (values.clamp(min=0) + damping).sqrt()
            update = -lr * (vectors @ ((vectors.mT @ g) / roots)).to(gradient.dtype)
        self._hold(total)
        return update, {}
