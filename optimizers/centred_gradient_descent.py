from typing import final

from torch import Tensor, nn

from optimizers.curvature.centring import centred
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.layerwise import LR, Kept, Layerwise, Settings, check_lr
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.step import Step
from optimizers.uses import Seen
from optimizers.usual_loop import Closure


@final
class CentredGradientDescent(Layerwise):
    """Gradient descent that sees the inputs of each layer without their mean.

        ΔW = -lr mean of g (h - h̄)ᵀ,   Δb = -lr mean of g

    With `consistent_bias` Δb also takes back what ΔW does to the mean input, Δb = -lr mean of g - ΔW h̄, as
    the derivation wants; the update is then always a descent direction. Without, it is one where ‖h̄‖ < 2.

    With `decay` 0 the mean h̄ is that of the batch; above 0 it is a running one. A running mean with
    `consistent_bias` is mean-normalised gradient descent, that of a layer W (h - μ) + d in W and d, where a
    new μ changes d so that the layer computes what it did (see `CentredLinear`).

    A layer without a trained bias has nothing to take up the mean, and gets the plain gradient.
    """

    hyperparameters = (
        LR,
        Hyperparameter(name="consistent_bias", kind="boolean", default=False),
        Hyperparameter(name="decay", kind="float", default=0.0, low=0.0, high=0.99),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        consistent_bias: bool = False,
        decay: float = 0.0,
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        settings = {"lr": lr, "consistent_bias": consistent_bias, "decay": decay}
        super().__init__(model, objective, params, settings, group)

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
    ) -> Step:
        """Take one update on a batch."""
        return self._step(inputs, targets, closure)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        if not 0 <= settings["decay"] < 1:
            raise ValueError(f"decay must be from 0 to below 1, got {settings['decay']!r}. Try 0 or 0.9.")

    def _rule(
        self, seen: Seen, kept: Kept, statistics: Tensor | None, settings: Settings
    ) -> tuple[Tensor, Tensor, Kept]:
        del statistics
        mean, kept = _running(self._processes.mean_of_rows(seen.rows), kept, settings["decay"])
        weight = -settings["lr"] * centred(seen.weight_gradient, seen.bias_gradient, mean)
        bias = -settings["lr"] * seen.bias_gradient
        if settings["consistent_bias"]:
            bias -= weight @ mean
        return weight, bias, kept


def _running(mean: Tensor, kept: Kept, decay: float) -> tuple[Tensor, Kept]:
    """Return the running mean, and what to keep of it. The k-th weighs min(1 - 1/k, decay) of the past."""
    if decay == 0:
        return mean, {}
    count = kept["count"] + 1 if kept else mean.new_ones(())
    past = min(1 - 1 / float(count), decay)
    mean = mean.lerp(kept["mean"], past) if kept else mean
    return mean, {"mean": mean, "count": count}
