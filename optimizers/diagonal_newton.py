from typing import Any, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature import diagonals
from optimizers.curvature.diagonals import SOURCES, Source
from optimizers.curvature.vectors import flat
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.running_average import Running, averaged
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole


@final
class DiagonalNewton(Whole):
    """δ = -lr (p + damping)^(-exponent) ⊙ ∇h, with p a running average of a diagonal of curvature (eq. 5.7).

    `source` names the diagonal, as `curvature.diagonals` does. "chapelle_erhan" estimates that of
    Gauss-Newton by one backward pass, "gauss_newton" is exact by one for each output, "empirical_fisher" is
    the mean squares of the gradients of cases. "becker_lecun" is the recursion for Gauss-Newton,
    "becker_lecun_hessian" its absolute values for the Hessian; both are for sequences of linear layers and
    element-wise functions, the others know any layers.

    p weighs the past by min(1 - 1/k, decay) at the k-th update, parameter by parameter. With "becker_lecun",
    exponent 1 and a constant damping it is the method of LeCun et al. (1998).
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-4, high=10.0, log=True),
        Hyperparameter(name="exponent", kind="float", default=0.75, low=0.5, high=1.0),
        Hyperparameter(name="source", kind="categorical", default="chapelle_erhan", choices=SOURCES),
    )
    _own = Whole._own | {"_source", "_running"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        damping: float = 0.1,  # λ
        exponent: float = 0.75,  # ξ
        source: Source = "chapelle_erhan",
        decay: float = 0.95,
        generator: Generator | None = None,
        group: Group = None,
    ) -> None:
        if not 0 < exponent <= 1:
            raise ValueError(f"exponent must be above 0 and at most 1, got {exponent!r}. Try 0.75.")
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be from 0 to below 1, got {decay!r}. Try 0.95.")
        settings = {"lr": lr, "damping": damping, "exponent": exponent, "decay": decay}
        super().__init__(model, objective, settings, generator, group)
        self._source = source
        self._running: Running = {}
        diagonals.check_source(source, self._model)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        network, targets = given.network, given.targets
        lr, damping, exponent, decay = (
            float(self.param_groups[0][name]) for name in ("lr", "damping", "exponent", "decay")
        )
        with torch.no_grad(), watch.phase("curvature"):
            diagonal = diagonals.diagonal(
                self._source, self._model, network, self._objective, targets, self._own_stream
            )
            # A mean of Hessians may be negative where those of some processes are not: sizes come last.
            sizes = [mean.abs() for mean in self._of_all(diagonal.values(), targets)]
            running = averaged(self._running, dict(zip(diagonal, sizes, strict=True)), decay)
        update = -lr * _scaled(
            gradient, flat({name: running[name][0] for name in network.params}), damping, exponent
        )
        if not update.isfinite().all():
            return None
        self._running = running
        return update, {}

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "running": dict(self._running)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings, diagonal and random stream of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._running = dict(state_dict["running"])


def _scaled(gradient: Tensor, diagonal: Tensor, damping: float, exponent: float) -> Tensor:
    """Return (p + λ)^(-ξ) ⊙ ∇h, and 0 where both are 0: there nothing depends on the parameter."""
    scaled = (diagonal + damping).pow(-exponent) * gradient
    return torch.where((diagonal == 0) & (gradient == 0), torch.zeros_like(gradient), scaled)
