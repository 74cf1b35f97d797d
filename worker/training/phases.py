"""When training stops exploring and begins to converge."""

from typing import Any

import torch
from torch import Tensor

from worker.training.settings import share


class ConvergenceDetector:
    """Sees from the gradients whether the weights still travel, or only tremble about a point.

    While they travel the gradients agree, and the mean of the latest is as long as each of them. Later the
    noise of the batches is all that is left, and the mean is short. Training converges from the update on at
    which the `drift` falls below the threshold, for good. Darken, Chang & Moody (1992) made
    search-then-converge adaptive by such a test; `switched` takes the update at which it answers.
    """

    def __init__(self, *, memory: float = 0.99, threshold: float = 0.1) -> None:
        share("memory", memory)
        share("threshold", threshold)
        self.memory, self.threshold = memory, threshold
        self.updates = 0
        self.converging = False
        self._mean = torch.zeros(())  # of the gradients and of their squared lengths; both begin at 0
        self._square = 0.0

    def observe(self, gradient: Tensor) -> bool:
        """Take in the gradient of one update; return whether training converges by now."""
        self.updates += 1
        self._mean = self.memory * self._mean + (1 - self.memory) * gradient.detach()
        self._square = self.memory * self._square + (1 - self.memory) * gradient.square().sum().item()
        seen_enough = self.updates >= round(1 / (1 - self.memory))
        self.converging = self.converging or (seen_enough and self.drift < self.threshold)
        return self.converging

    @property
    def drift(self) -> float:
        """‖E g‖² / E‖g‖² by the gradients so far: 1 where all agree, about 0 where they are mere noise."""
        seen = 1 - self.memory**self.updates  # what the weights of both means add up to
        if self._square == 0:
            return 0.0
        agreement = self._mean.square().sum().item() / (self._square * seen)
        by_chance = (1 - self.memory) * (2 - seen) / ((1 + self.memory) * seen)  # of independent noise: Σ wᵢ²
        return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed run needs to go on as this one would have."""
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on as the detector would have whose state this is."""
        vars(self).update(state)
