"""Which examples the next update sees."""

from typing import Any

import torch
from torch import Generator, Tensor


class Batches:
    """All examples in a random order, then in another, without an end; no batch is ever a short one."""

    def __init__(self, examples: int, generator: Generator) -> None:
        self.examples = examples
        self._generator = generator
        self._left = torch.empty(0, dtype=torch.long)

    def take(self, size: int) -> Tensor:
        """Return the numbers of the next examples; where two orders meet, one of them may come twice."""
        while len(self._left) < size:
            order = torch.randperm(self.examples, generator=self._generator)
            self._left = torch.cat([self._left, order])
        taken, self._left = self._left[:size], self._left[size:]
        return taken

    def state_dict(self) -> dict[str, Any]:
        """Return where it stands."""
        return {"left": self._left.clone(), "generator": self._generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from where another one stood."""
        self._left = state["left"]
        self._generator.set_state(state["generator"])
