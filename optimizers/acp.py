from typing import Literal, TypeAlias, final

import torch
from torch import Tensor, nn

from optimizers.curvature.centring import centred, moments, shifted
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.layerwise import (
    LR,
    REFRESH_EVERY,
    RIDGE,
    Kept,
    Layerwise,
    Settings,
    check_lr,
    check_refresh,
    check_ridge,
    inverted,
)
from optimizers.objectives import Objective
from optimizers.processes import Group, Processes
from optimizers.step import Step
from optimizers.uses import Seen
from optimizers.usual_loop import Closure

Alpha: TypeAlias = float | Literal["largest_slope"]
RidgeOn: TypeAlias = Literal["weights", "all"]

ALPHA_FLOOR = 1e-12  # a dead layer has no slopes at all


@final
class ACP(Layerwise):
    """Amortised covariance preconditioner: the curvature of each layer is taken to be A ⊗ alpha I.

    A = mean [h; 1][h; 1]ᵀ is K-FAC's. The gradients at the sums are taken to be independent and alike, with
    mean square alpha. Then the covariance C of the layer's inputs is all that is inverted: with
    κ = ridge / alpha and r = lr / alpha,

        ΔW = -r mean of g (h - h̄)ᵀ (C + κI)⁻¹,   Δb = -r mean of g - ΔW h̄

    is the update for ridge_on="weights". For "all" it is A + κI, the bias's entry included, that is inverted.

    C is estimated every `refresh_every` updates, from the batch at hand or from the inputs that `step` gets
    as `statistics`; κ is that of the refresh. The mean h̄ is always that of the batch. alpha is a number, or
    "largest_slope": the largest g² of the batch, layer by layer and anew in each update.

    A layer without a trained bias has mean h hᵀ in place of C, and 0 in place of h̄.
    """

    hyperparameters = (
        LR,
        Hyperparameter(name="alpha", kind="float", default=1.0, low=1e-4, high=10.0, log=True),
        RIDGE,
        Hyperparameter(name="ridge_on", kind="categorical", default="weights", choices=("weights", "all")),
        REFRESH_EVERY,
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        alpha: Alpha = 1.0,
        ridge: float = 0.1,  # ε in the paper
        ridge_on: RidgeOn = "weights",
        refresh_every: int = 100,  # updates, N in the paper
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        settings = {
            "lr": lr,
            "alpha": alpha,
            "ridge": ridge,
            "ridge_on": ridge_on,
            "refresh_every": refresh_every,
        }
        super().__init__(model, objective, params, settings, group)

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
        statistics: Tensor | None = None,
    ) -> Step:
        """Take one update on a batch. Raises SingularFactorError when what is to be inverted is singular."""
        return self._step(inputs, targets, closure, statistics)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        check_ridge(settings["ridge"])
        check_refresh(settings["refresh_every"])
        if settings["ridge_on"] not in {"weights", "all"}:
            raise ValueError(f"ridge_on must be 'weights' or 'all', got {settings['ridge_on']!r}.")
        alpha = settings["alpha"]
        if alpha != "largest_slope" and not (isinstance(alpha, float | int) and 0 < alpha < float("inf")):
            raise ValueError(f"alpha must be 'largest_slope' or finite and above 0, got {alpha!r}.")

    def _is_due(self, kept: Kept, *, biased: bool, settings: Settings) -> bool:
        return self._updates % settings["refresh_every"] == 0 or _key(biased=biased) not in kept

    def _rule(
        self, seen: Seen, kept: Kept, statistics: Tensor | None, settings: Settings
    ) -> tuple[Tensor, Tensor, Kept]:
        alpha = self._alpha(seen, settings)
        if statistics is not None:
            kept = _estimate(seen, statistics, settings, settings["ridge"] / alpha, self._processes)
        mean = self._processes.mean_of_rows(seen.rows) if seen.biased else torch.zeros_like(seen.rows[0])
        scale, rate = kept["scale"], settings["lr"] / alpha

        gradient = centred(seen.weight_gradient, seen.bias_gradient, mean / scale)
        weight = -rate * gradient @ kept[_key(biased=seen.biased)]
        bias = (-rate * seen.bias_gradient - weight @ mean) / scale
        return weight, bias, kept

    def _alpha(self, seen: Seen, settings: Settings) -> float:
        alpha = settings["alpha"]
        if alpha == "largest_slope":
            alpha = self._processes.largest(seen.largest_slope()).item()
        return max(float(alpha), ALPHA_FLOOR)


def _key(*, biased: bool) -> str:
    return "inverse_covariance" if biased else "inverse_second_moment"


def _estimate(seen: Seen, statistics: Tensor, settings: Settings, kappa: float, processes: Processes) -> Kept:
    """Return (C + κI)⁻¹, or the inverse of the Schur complement S when the bias has a ridge too."""
    mean, matrix = moments(statistics, centre=seen.biased, processes=processes)
    schur, scale = shifted(matrix, kappa), 1.0
    if settings["ridge_on"] == "all":  # S = C + κI + κ/(1 + κ) h̄ h̄ᵀ
        scale = 1 + kappa  # the bias's own entry
        schur += kappa / scale * mean.outer(mean).double()
    inverse = inverted(schur, seen, kappa)
    return {_key(biased=seen.biased): inverse, "scale": torch.full_like(mean[0], scale)}
