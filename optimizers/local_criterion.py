from typing import final

from torch import Tensor, nn

from optimizers.curvature.centring import centred, moments, shifted
from optimizers.groups import Params
from optimizers.layerwise import LR, RIDGE, Kept, Layerwise, Settings, check_lr, check_ridge, inverted
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.step import Step
from optimizers.uses import Seen
from optimizers.usual_loop import Closure


@final
class LocalCriterion(Layerwise):
    """Moves the sums of each layer, on the whole batch, as nearly as one layer can along their own gradients.

    Each layer takes the minimum of  mean ‖ΔW h + Δb + lr g‖² + ridge ‖ΔW‖², which is

        ΔW = -lr mean of g (h - h̄)ᵀ (C + ridge I)⁻¹,   Δb = -lr mean of g - ΔW h̄

    with h̄ and C of the batch at hand. It is `ACP` with alpha 1 and a refresh in each update. A layer without
    a trained bias has mean h hᵀ in place of C, and 0 in place of h̄.
    """

    hyperparameters = (LR, RIDGE)

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        ridge: float = 0.1,  # ε in the paper
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        super().__init__(model, objective, params, {"lr": lr, "ridge": ridge}, group)

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
    ) -> Step:
        """Take one update on a batch. Raises SingularFactorError when C + ridge I has no inverse."""
        return self._step(inputs, targets, closure)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        check_ridge(settings["ridge"])

    def _rule(
        self, seen: Seen, kept: Kept, statistics: Tensor | None, settings: Settings
    ) -> tuple[Tensor, Tensor, Kept]:
        del kept, statistics
        mean, covariance = moments(seen.rows, centre=seen.biased, processes=self._processes)
        precision = inverted(shifted(covariance, settings["ridge"]), seen, settings["ridge"])
        weight = -settings["lr"] * centred(seen.weight_gradient, seen.bias_gradient, mean) @ precision
        bias = -settings["lr"] * seen.bias_gradient - weight @ mean
        return weight, bias, {}
