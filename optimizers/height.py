import math
from dataclasses import dataclass, field
from typing import final

from torch import Tensor

from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat, shaped
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
        params = self.network.params
        moved = {name: params[name] + change for name, change in shaped(update, params).items()}
        targets = self.targets[self.cases]
        own = float(self.objective.loss(self.network(moved, self.cases), targets))
        height = self.processes.mean(own, len(targets), update.device)
        height += self.l2 / 2 * float(flat(moved).square().sum()) if self.l2 else 0.0
        return math.inf if math.isnan(height) else height
