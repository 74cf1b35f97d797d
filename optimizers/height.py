import math
from dataclasses import dataclass, field
from typing import final

import torch
from torch import Tensor

from optimizers.curvature.network import Network
from optimizers.curvature.vectors import Params, flat, shaped
from optimizers.objectives import Objective
from optimizers.processes import Processes


@final
@dataclass(frozen=True)
class Height:
    """h at θ + δ, on one batch with the same dropout masks and normalisation; ∞ where it is no number."""

    objective: Objective
    network: Network
    targets: Tensor
    l2: float
    processes: Processes
    cases: slice = field(default_factory=lambda: slice(None))  # of the batch, those that count

    def __call__(self, update: Tensor) -> float:
        moved, targets = _moved(self.network.params, update), self.targets[self.cases]
        own = float(self.objective.loss(self.network(moved, self.cases), targets))
        height = self.processes.mean(own, len(targets), update.device)
        height += self.l2 / 2 * float(flat(moved).square().sum()) if self.l2 else 0.0
        return math.inf if math.isnan(height) else height

    def slope(self, update: Tensor) -> tuple[float, Tensor]:
        """Return h and ∇h at θ + δ."""
        with torch.enable_grad():
            place, targets = update.detach().requires_grad_(), self.targets[self.cases]
            moved = _moved(self.network.params, place)
            loss = self.objective.loss(self.network(moved, self.cases), targets)
            loss = loss + self.l2 / 2 * flat(moved).square().sum() if self.l2 else loss
            (slope,) = torch.autograd.grad(loss, place)
        height, slope = self.processes.means([loss.detach(), slope], len(targets))
        return math.inf if height.isnan() else float(height), slope


def _moved(params: Params, update: Tensor) -> Params:
    return {name: params[name] + change for name, change in shaped(update, params).items()}
