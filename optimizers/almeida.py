"""A learning rate for each parameter, by products of its gradients (Almeida et al. 1999)."""

from typing import final

import torch
from torch import Tensor, nn

from optimizers.elementwise import Elementwise, Kept, Settings
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.layerwise import check_lr
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.running_average import averaged


@final
class Almeida(Elementwise):
    """δ_k = -lr P ⊙ g + momentum δ_(k-1), where P descends along its own gradient (Martens 2016, eq. 3.2).

        v ← decay v + (1 - decay) g²,   P ← P ⊙ (1 + meta_lr g_k g_(k-1) / v)

    The derivative of the loss in a rate, one update later, is -g_k g_(k-1): rates fit batches on average,
    where signs are by chance. P begins with 1, and no factor is below ½ or above 2.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.01, low=1e-4, high=1.0, log=True),
        Hyperparameter(name="meta_lr", kind="float", default=0.01, low=1e-3, high=0.3, log=True),
        Hyperparameter(name="momentum", kind="float", default=0.0, low=0.0, high=0.99),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.01,  # of the first update
        meta_lr: float = 0.01,  # α
        momentum: float = 0.0,  # μ
        decay: float = 0.95,  # γ
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        settings = {"lr": lr, "meta_lr": meta_lr, "momentum": momentum, "decay": decay}
        super().__init__(model, objective, params, settings, group)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        if not 0 <= settings["meta_lr"] < float("inf"):
            raise ValueError(f"meta_lr must be finite and at least 0, got {settings['meta_lr']!r}. Try 0.01.")
        for name, usual in (("momentum", 0.9), ("decay", 0.95)):
            if not 0 <= settings[name] < 1:
                raise ValueError(f"{name} must be from 0 to below 1, got {settings[name]!r}. Try {usual}.")

    @staticmethod
    def _rule(gradient: Tensor, kept: Kept, settings: Settings) -> tuple[Tensor, Kept]:
        if not kept:
            move = -settings["lr"] * gradient
            rates, squares, count = torch.ones_like(gradient), gradient.square(), gradient.new_ones(())
        else:
            before = {"squares": (kept["squares"], int(kept["count"]))}
            after = averaged(before, {"squares": gradient.square()}, settings["decay"])
            squares, count = after["squares"][0], gradient.new_tensor(after["squares"][1])
            agreement = (gradient * kept["gradient"] / squares).nan_to_num()  # 0 / 0 where nothing slopes
            rates = kept["rates"] * (1 + settings["meta_lr"] * agreement).clamp(0.5, 2.0)
            move = settings["momentum"] * kept["move"] - settings["lr"] * rates * gradient
        kept = {
            "rates": rates,
            "squares": squares,
            "count": count,
            "gradient": gradient.clone(),
            "move": move,
        }
        return move, kept
