from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.vectors import Params, flat, shaped
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole

Vectors = Mapping[str, Tensor]  # by what they are, each of all trained parameters


class Remembering(Whole, ABC):
    """A rule that keeps vectors from one update to the next, one number in each for each parameter.

    They begin with 0, and are kept by the names of parameters: what is unfrozen begins anew.
    """

    _keeps: tuple[str, ...]  # what the vectors are
    _own = Whole._own | {"_kept", "_updates"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: dict[str, float],
        generator: Generator | None,
        group: Group,
    ) -> None:
        super().__init__(model, objective, settings, generator, group)
        self._kept: dict[str, Params] = {}
        self._updates = 0

    @abstractmethod
    def _rule(self, given: Given, gradient: Tensor, kept: Vectors) -> tuple[Tensor, Vectors]:
        """Return what to add to the parameters, and what to keep."""

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        params = given.network.params
        before = {what: self._recalled(what, params) for what in self._keeps}
        with torch.no_grad(), watch.phase("update"):
            update, after = self._rule(given, gradient, before)
        if not all(vector.isfinite().all() for vector in (update, *after.values())):
            return None
        self._kept = {what: shaped(vector, params) for what, vector in after.items()}
        self._updates += 1
        return update, {}

    def _recalled(self, what: str, params: Params) -> Tensor:
        kept = self._kept.get(what, {})
        return flat(
            {name: kept[name].to(p) if name in kept else torch.zeros_like(p) for name, p in params.items()}
        )

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        kept = {what: dict(params) for what, params in self._kept.items()}
        return {**super().state_dict(), "kept": kept, "updates": self._updates}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings, random stream and what a saved optimizer kept."""
        super().load_state_dict(state_dict)
        self._kept = {what: dict(params) for what, params in state_dict["kept"].items()}
        self._updates = state_dict["updates"]
