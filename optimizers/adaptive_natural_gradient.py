"""The natural gradient by a running inverse of the Fisher matrix (Amari, Park & Fukumizu 2000)."""

import math
from typing import Any, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.dense import LIMIT, gradients_by_case
from optimizers.curvature.network import Network
from optimizers.held_matrix import HeldMatrix
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.woodbury import inverse_with_diagonal, inverse_with_rows
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given


@final
class AdaptiveNaturalGradient(HeldMatrix):
    """δ = -lr G⁻¹ ∇h, where G ← (1 - ε) G + ε (1/n) Σ u uᵀ is never written out, but its inverse is.

    u are gradients of cases for targets drawn from the model's own prediction, so that G follows the Fisher
    matrix. For one case the inverse is that of Sherman and Morrison,

        G⁻¹ ← (G⁻¹ - ε G⁻¹ u uᵀ G⁻¹ / (1 - ε + ε uᵀ G⁻¹ u)) / (1 - ε).

    `decay` is 1 - ε. G begins as `damping` times I. That is forgotten like all else, and G⁻¹ would grow
    without bound where no gradient points, so what is gone of it is put back every 1/ε updates.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-2, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.3, low=1e-3, high=10.0, log=True),
        Hyperparameter(name="decay", kind="float", default=0.99, low=0.9, high=0.999),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        damping: float = 0.3,  # λ
        decay: float = 0.99,  # 1 - ε
        limit: int = LIMIT,
        generator: Generator | None = None,
        group: Group = None,
    ) -> None:
        if not damping > 0:
            raise ValueError(f"damping must be above 0: it is what G begins with, got {damping!r}. Try 0.3.")
        if not 0 < decay <= 1:
            raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}. Try 0.99.")
        settings = {"lr": lr, "damping": damping, "decay": decay}
        super().__init__(model, objective, settings, generator, group, limit=limit)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, damping, decay = (float(self.param_groups[0][name]) for name in ("lr", "damping", "decay"))
        inverse = self._held(given.network, 1 / damping)
        with torch.no_grad(), watch.phase("curvature"):
            rows = self._sampled(given.network).double()
            inverse = inverse_with_rows(inverse, rows * math.sqrt((1 - decay) / len(rows)), past=decay)
        with torch.no_grad(), watch.phase("damp"):
            inverse = self._damped(inverse, damping, decay)
        update = -lr * (inverse @ gradient.double()).to(gradient.dtype)
        if not update.isfinite().all():
            return None
        self._hold(inverse)
        return update, {}

    def _damped(self, inverse: Tensor, damping: float, decay: float) -> Tensor:
        """Return the inverse for what is gone of the damping in 1/ε updates put back, when they are over."""
        every = round(1 / (1 - decay)) if decay < 1 else 0
        if not every or (self._updates + 1) % every:
            return inverse
        return inverse_with_diagonal(inverse, damping * (1 - decay**every))

    def _sampled(self, network: Network) -> Tensor:
        """Return u of all cases."""
        outputs = network(network.params)
        targets = self._objective.sample(outputs, self._own_stream(outputs.device))
        return self._processes.rows_of_all(gradients_by_case(network, self._objective, targets))
