"""A cost of several parts, each a function of your own with a weight."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from torch import Tensor

Cost: TypeAlias = Callable[[Tensor, Tensor], Tensor]  # of outputs and targets, as a scalar


@dataclass(frozen=True)
class CompositeCost:
    """A weighted sum: `CompositeCost({"content": (alpha, content), "style": (beta, style)})`."""

    terms: Mapping[str, tuple[float, Cost]]

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("A composite cost needs a term: a name with a weight and a function.")

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the weighted sum, as a scalar that can be differentiated."""
        first, *others = (weight * cost(outputs, targets) for weight, cost in self.terms.values())
        return sum(others, start=first)

    def parts(self, outputs: Tensor, targets: Tensor) -> dict[str, float]:
        """Return each cost without its weight, to be reported."""
        return {name: cost(outputs, targets).item() for name, (_, cost) in self.terms.items()}
