from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn

from optimizers.curvature.centring import centred, moments, shifted
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.layerwise import (
    REFRESH_EVERY,
    RIDGE,
    Kept,
    Layerwise,
    Settings,
    check_lr,
    check_refresh,
    check_ridge,
)
from optimizers.objectives import Objective
from optimizers.processes import ALONE, Group, Processes
from optimizers.step import Step
from optimizers.uses import Gradients, Seen
from optimizers.usual_loop import Closure


@final
@dataclass(frozen=True, kw_only=True)
class Whitening:
    """The coordinates (V, d) of a layer in which s = V U (h - μ) + d, with U = (C + ridge I)^(-1/2)."""

    mean: Tensor  # μ
    root: Tensor  # U

    def activities(self, rows: Tensor) -> Tensor:
        """Return U (h - μ): mean 0 and, without ridge, covariance I on the rows it was estimated from."""
        return (rows - self.mean) @ self.root

    def enter(self, weight: Tensor, bias: Tensor, inverse_root: Tensor) -> tuple[Tensor, Tensor]:
        """Return V = W U⁻¹ and d = b + W μ, which compute what W and b do."""
        return weight @ inverse_root, bias + weight @ self.mean

    def leave(self, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """Return W = V U and b = d - V U μ. It is linear, so changes of V and d go the same way."""
        weight = weight @ self.root
        return weight, bias - weight @ self.mean


def whitening(
    rows: Tensor, *, ridge: float, centre: bool = True, processes: Processes = ALONE
) -> tuple[Whitening, Tensor]:
    """Return the whitening of these rows, and U⁻¹. Raises NotPositiveDefiniteError for C + ridge I."""
    mean, covariance = moments(rows, centre=centre, processes=processes)
    ridged = shifted(covariance, ridge)
    if not ridged.isfinite().all():
        raise NotPositiveDefiniteError(ridged)
    values, vectors = torch.linalg.eigh(ridged)
    noise = len(values) * torch.finfo(torch.float64).eps * values[-1]
    if values[0] <= noise:
        raise NotPositiveDefiniteError(ridged)
    root, inverse_root = (
        ((vectors * powers) @ vectors.T).to(rows.dtype) for powers in (values.rsqrt(), values.sqrt())
    )
    return Whitening(mean=mean, root=root), inverse_root


@final
class PRONG(Layerwise):
    """Projected natural gradient descent (natural neural networks, Desjardins et al. 2015).

    Each layer is trained in coordinates in which its inputs are white, s = V U (h - μ) + d:

        V ← V - lr mean of g (U (h - μ))ᵀ,   d ← d - lr mean of g

    μ and U are estimated every `refresh_every` updates, from the batch at hand or from the inputs that `step`
    gets as `statistics`, and are not trained. The model keeps W = V U and b = d - V U μ throughout, and
    (V, d) are made of them anew when μ and U change: so a refresh changes no output, not by a bit.

    With momentum, m_V and m_d are carried over at a refresh as an update would be: m_V' = m_V U U'⁻¹ and
    m_d' = m_d + m_V U (μ' - μ). That leaves m_V U and m_d - m_V U μ as they are, and so these are kept.

    A layer without a trained bias has mean h hᵀ in place of C, and 0 in place of μ.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.03, low=1e-4, high=1.0, log=True),
        RIDGE,
        Hyperparameter(name="momentum", kind="float", default=0.0, low=0.0, high=0.99),
        REFRESH_EVERY,
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.03,
        ridge: float = 0.1,  # ε in the paper
        momentum: float = 0.0,
        refresh_every: int = 100,  # updates, N in the paper
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        settings = {"lr": lr, "ridge": ridge, "momentum": momentum, "refresh_every": refresh_every}
        super().__init__(model, objective, params, settings, group)

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
        statistics: Tensor | None = None,
    ) -> Step:
        """Take one update on a batch. Raises SingularFactorError when C + ridge I has no inverse root."""
        return self._step(inputs, targets, closure, statistics)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        check_ridge(settings["ridge"])
        check_refresh(settings["refresh_every"])
        if not 0 <= settings["momentum"] < 1:
            raise ValueError(f"momentum must be from 0 to below 1, got {settings['momentum']!r}. Try 0.9.")

    def _is_due(self, kept: Kept, *, biased: bool, settings: Settings) -> bool:
        of_kind = bool(kept) and bool(kept["biased"]) == biased
        return self._updates % settings["refresh_every"] == 0 or not of_kind

    def _rule(
        self, seen: Seen, kept: Kept, statistics: Tensor | None, settings: Settings
    ) -> tuple[Tensor, Tensor, Kept]:
        if statistics is not None:
            kept = _estimate(seen, statistics, settings["ridge"], self._processes)
        white = Whitening(mean=kept["mean"], root=kept["root"])

        gradient = centred(seen.weight_gradient, seen.bias_gradient, white.mean) @ white.root  # ∂h/∂V
        weight, bias = white.leave(-settings["lr"] * gradient, -settings["lr"] * seen.bias_gradient)
        return weight, bias, kept

    def _moves(self, changes: Gradients) -> Gradients:
        """Return m ← momentum m - lr ∇, of plain parameters too. What this step did not reach rests."""
        momenta = self._momenta()
        return {
            p: change + momenta[p] * self.state[p]["momentum"] if p in self.state else change
            for p, change in changes.items()
        }

    def _remember(self, moves: Gradients) -> None:
        momenta = self._momenta()
        for parameter, move in moves.items():
            if momenta[parameter]:
                self.state[parameter] = {"momentum": move}
            else:
                self.state.pop(parameter, None)

    def _momenta(self) -> dict[Tensor, float]:
        return {p: float(group["momentum"]) for group in self.param_groups for p in group["params"]}


def _estimate(seen: Seen, statistics: Tensor, ridge: float, processes: Processes) -> Kept:
    try:
        white, _ = whitening(statistics, ridge=ridge, centre=seen.biased, processes=processes)
    except NotPositiveDefiniteError:
        raise SingularFactorError(seen.name, ridge) from None
    return {"mean": white.mean, "root": white.root, "biased": torch.full_like(white.mean[0], seen.biased)}
