"""Stochastic gradient descent with a diagonal that secants teach (Bordes, Bottou & Gallinari 2009, 2010)."""

from typing import Literal, final

import torch
from torch import Tensor, nn

from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.remembering import Remembering, Vectors
from optimizers.whole import Given

SPAN = 100.0  # from the least curvature to the largest that is believed
TOO_SHORT = 1e-12  # of a move, to divide by


@final
class SGDQN(Remembering):
    """δ = -lr P ⊙ g, where P learns from every `skip`-th move what curvature it met, r = Δg / Δθ.

        "2009":  P ← (1 - 1/k) P + 1 / (k r)  at the k-th time     "2010":  1 / P ← 1 / P + r

    By the first rule P comes to a mean of inverse curvatures; by the second it falls as 1 / k besides, and
    asks for no schedule. r is cut at least_curvature, the strength of a regulariser if there is one, and at
    100 times that; P begins at the inverse of the largest. Both gradients are of one batch: the `next`
    one, which did not choose the move, or the `same`, as in 2009.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=1e-2, high=10.0, log=True),
        Hyperparameter(name="least_curvature", kind="float", default=0.01, low=1e-4, high=1.0, log=True),
        Hyperparameter(name="skip", kind="int", default=16, low=1, high=64, log=True),
        Hyperparameter(name="rule", kind="categorical", default="2010", choices=("2009", "2010")),
    )
    _keeps = ("rates", "secants", "move")
    _own = Remembering._own | {"_learns", "_on", "_skip"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        least_curvature: float = 0.01,  # λ
        skip: int = 16,  # updates
        rule: Literal["2009", "2010"] = "2010",
        batch: Literal["next", "same"] = "next",
        group: Group = None,
    ) -> None:
        if not least_curvature > 0:
            raise ValueError(f"least_curvature must be above 0, got {least_curvature!r}. Try 0.01.")
        if skip < 1:
            raise ValueError(f"skip counts updates and must be at least 1, got {skip!r}.")
        if rule not in {"2009", "2010"}:
            raise ValueError(f"rule is '2009' or '2010', got {rule!r}.")
        if batch not in {"next", "same"}:
            raise ValueError(f"batch is 'next' or 'same', got {batch!r}.")
        super().__init__(model, objective, {"lr": lr, "least_curvature": least_curvature}, None, group)
        self._skip, self._learns, self._on = skip, rule, batch

    def _rule(self, given: Given, gradient: Tensor, kept: Vectors) -> tuple[Tensor, Vectors]:
        height = Height(self._objective, given.network, given.targets, 0.0, self._processes)
        lr, most = float(self.param_groups[0]["lr"]), SPAN * float(self.param_groups[0]["least_curvature"])
        rates, secants = kept["rates"], kept["secants"]
        rates = torch.where(rates == 0, 1 / most, rates)
        if self._on == "next" and self._updates and self._updates % self._skip == 0:
            change = -secant(height, -kept["move"], gradient)
            rates, secants = self._learned(rates, secants, change, kept["move"])
        move = -lr * rates * gradient
        if self._on == "same" and (self._updates + 1) % self._skip == 0:
            rates, secants = self._learned(rates, secants, secant(height, move, gradient), move)
        return move, {"rates": rates, "secants": secants, "move": move}

    def _learned(self, rates: Tensor, secants: Tensor, change: Tensor, move: Tensor) -> tuple[Tensor, Tensor]:
        least = float(self.param_groups[0]["least_curvature"])
        met = (change / move).clamp(least, SPAN * least)
        count = secants + 1
        after = 1 / (1 / rates + met) if self._learns == "2010" else rates + (1 / met - rates) / count
        is_long = move.abs() >= TOO_SHORT
        return torch.where(is_long, after, rates), torch.where(is_long, count, secants)


def secant(height: Height, move: Tensor, gradient: Tensor) -> Tensor:
    """Return by how much a move changes the gradient, on one batch and one function of the parameters.

    `gradient` is that before the move. Under batch normalisation it is taken anew, with the statistics held:
    that is another function.
    """
    before = height.slope(torch.zeros_like(move))[1] if height.network.couples_cases else gradient
    return height.slope(move)[1] - before
