"""A learning rate for each parameter, by the signs of its gradients (Silva & Almeida 1990)."""

from typing import final

import torch
from torch import Tensor, nn

from optimizers.elementwise import Elementwise, Kept, Settings
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.layerwise import check_lr
from optimizers.objectives import Objective
from optimizers.processes import Group


@final
class SilvaAlmeida(Elementwise):
    """δ = -lr P ⊙ g, where P grows while a gradient keeps its sign, and shrinks where it changes it.

        P ← increase P   where g_k g_(k-1) ≥ 0,   P ← decrease P   elsewhere

    P begins with 1. On mini-batches, where signs change by chance, take decrease = 1 / increase: then chance
    alone drives log P to no side. With less the rates of noisy parameters shrink without bound.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.01, low=1e-4, high=1.0, log=True),
        Hyperparameter(name="increase", kind="float", default=1.2, low=1.01, high=1.5),
        Hyperparameter(name="decrease", kind="float", default=0.8, low=0.5, high=0.99),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.01,  # of the first update
        increase: float = 1.2,  # u
        decrease: float = 0.8,  # d
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        settings = {"lr": lr, "increase": increase, "decrease": decrease}
        super().__init__(model, objective, params, settings, group)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        if not 1 <= settings["increase"] < float("inf"):
            raise ValueError(
                f"increase must be finite and at least 1, got {settings['increase']!r}. Try 1.2."
            )
        if not 0 < settings["decrease"] <= 1:
            raise ValueError(
                f"decrease must be above 0 and at most 1, got {settings['decrease']!r}. Try 0.8."
            )

    @staticmethod
    def _rule(gradient: Tensor, kept: Kept, settings: Settings) -> tuple[Tensor, Kept]:
        increase, decrease, rates = settings["increase"], settings["decrease"], torch.ones_like(gradient)
        if kept:
            agree = gradient.sign() * kept["gradient"].sign() >= 0  # the product itself may underflow
            rates = torch.where(agree, increase * kept["rates"], decrease * kept["rates"])
        return -settings["lr"] * rates * gradient, {"rates": rates, "gradient": gradient.clone()}
