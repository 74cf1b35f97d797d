from abc import ABC
from typing import Any

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.dense import LIMIT, check_small
from optimizers.curvature.network import Network
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.whole import Whole


class HeldMatrix(Whole, ABC):
    """Holds a matrix of all trained parameters from update to update, in float64.

    Where others are trained than before, it begins anew. Raises TooLargeError for more than `limit` of them.
    """

    _own = Whole._own | {"_matrix", "_names", "_updates"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: dict[str, float],
        generator: Generator | None,
        group: Group,
        *,
        limit: int = LIMIT,
    ) -> None:
        super().__init__(model, objective, settings, generator, group)
        check_small(self._model, type(self).__name__, limit)
        self._matrix: Tensor | None = None
        self._names: list[str] = []  # of the parameters it is of
        self._updates = 0  # that it has seen

    def _held(self, network: Network, start: float) -> Tensor:
        """Return the matrix, which begins as this multiple of I."""
        names = [*network.params]
        if self._matrix is None or self._names != names:
            size = sum(tensor.numel() for tensor in network.params.values())
            self._matrix = start * torch.eye(size, dtype=torch.float64)
            self._names, self._updates = names, 0
        return self._matrix.to(network.inputs.device)

    def _hold(self, matrix: Tensor) -> None:
        """Have this one from now on."""
        self._matrix = matrix
        self._updates += 1

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        held = {"matrix": self._matrix, "names": self._names, "updates": self._updates}
        return {**super().state_dict(), **held}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings, the matrix and the random stream of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._matrix, self._names = state_dict["matrix"], list(state_dict["names"])
        self._updates = state_dict["updates"]
