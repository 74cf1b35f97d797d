import math
from collections.abc import Callable
from dataclasses import dataclass
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

    def __call__(self, update: Tensor) -> float:
        params = self.network.params
        moved = {name: params[name] + change for name, change in shaped(update, params).items()}
        own = float(self.objective.loss(self.network(moved), self.targets))
        height = self.processes.mean(own, len(self.targets), update.device)
        height += self.l2 / 2 * float(flat(moved).square().sum()) if self.l2 else 0.0
        return math.inf if math.isnan(height) else height

    def along(self, update: Tensor, *, none: float, whole: float) -> Callable[[float], float]:
        """Return α -> h(θ + α δ), which computes each once; what it is at 0 and at 1 is known."""
        known = {0.0: none, 1.0: whole}

        def at(alpha: float) -> float:
            if alpha not in known:
                known[alpha] = self(alpha * update)
            return known[alpha]

        return at
