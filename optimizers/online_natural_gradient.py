from typing import final

import torch
from torch import Tensor, nn

from optimizers.curvature.low_rank import LowRank, averaged, estimated
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.layerwise import LR, Kept, Layerwise, Settings, check_lr, check_refresh
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.step import Step
from optimizers.uses import Seen
from optimizers.usual_loop import Closure


@final
class OnlineNaturalGradient(Layerwise):
    """Gradient descent on rows that other cases have whitened (NG-SGD, Povey, Zhang & Khudanpur 2014).

    With x = [h; 1], or h where no bias is trained, and g the gradient at the sums, for the targets given,

        [ΔW Δb] = -lr mean of ĝ x̂ᵀ,   x̂ = s (F_x + ρ f I)⁻¹ x,   ĝ = t (F_g + ρ f' I)⁻¹ g

    where F_x and F_g are second moments of x and g, f and f' the means of their eigenvalues, ρ is
    `relative_ridge`, and s and t are such that the rows of the batch are, in the root of their mean square,
    as long as before. So an lr for gradient descent will do. It is K-FAC with the empirical Fisher matrix,
    but for the length of the step.

    F_x and F_g are running averages over the batches *before*: a case is whitened by others, so that a
    large one does not hide itself. Each is kept as its largest eigenvalues, `rank_of_inputs` or
    `rank_of_gradients` many, and the mean of the rest. The batch is averaged in after every
    `refresh_every`-th update; the first one, which has none before it, is whitened by itself.
    """

    hyperparameters = (
        LR,
        Hyperparameter(name="relative_ridge", kind="float", default=4.0, low=0.1, high=100.0, log=True),
        Hyperparameter(name="rank_of_inputs", kind="int", default=30, low=5, high=100, log=True),
        Hyperparameter(name="rank_of_gradients", kind="int", default=80, low=5, high=200, log=True),
        Hyperparameter(name="refresh_every", kind="int", default=4, low=1, high=50, log=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        relative_ridge: float = 4.0,  # α in the paper
        rank_of_inputs: int = 30,
        rank_of_gradients: int = 80,
        decay: float = 0.95,
        refresh_every: int = 4,  # updates
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        settings = {
            "lr": lr,
            "relative_ridge": relative_ridge,
            "rank_of_inputs": rank_of_inputs,
            "rank_of_gradients": rank_of_gradients,
            "decay": decay,
            "refresh_every": refresh_every,
        }
        super().__init__(model, objective, params, settings, group)

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
    ) -> Step:
        """Take one update on a batch. Raises ValueError where a GradScaler's scale is forgotten."""
        return self._step(inputs, targets, closure)

    @staticmethod
    def _check(settings: Settings) -> None:
        check_lr(settings["lr"])
        check_refresh(settings["refresh_every"])
        if not 0 < settings["relative_ridge"] < float("inf"):
            raise ValueError(
                f"relative_ridge must be finite and above 0, got {settings['relative_ridge']!r}. Try 4."
            )
        for name in ("rank_of_inputs", "rank_of_gradients"):
            if settings[name] < 1:
                raise ValueError(f"{name} counts eigenvalues and must be at least 1, got {settings[name]!r}.")
        if not 0 <= settings["decay"] < 1:
            raise ValueError(f"decay must be from 0 to below 1, got {settings['decay']!r}. Try 0.95.")

    def _is_due(self, kept: Kept, *, biased: bool, settings: Settings) -> bool:
        del biased
        return self._updates % settings["refresh_every"] == 0 or not kept

    def _rule(
        self, seen: Seen, kept: Kept, statistics: Tensor | None, settings: Settings
    ) -> tuple[Tensor, Tensor, Kept]:
        rows = {"inputs": _homogeneous(seen), "gradients": seen.row_gradients()}
        if not kept or kept["inputs_basis"].shape[1] != rows["inputs"].shape[1]:  # a bias was unfrozen
            before = after = self._with({}, rows, seen.name, settings)
        else:
            before = kept
            after = kept if statistics is None else self._with(kept, rows, seen.name, settings)

        step = -settings["lr"] * _joined(seen)
        for side, turned in (("inputs", False), ("gradients", True)):
            moment = _moment(before, side)
            whitened = moment.solve(step.mT if turned else step, settings["relative_ridge"])
            factor = self._lengthening(rows[side], moment.solve(rows[side], settings["relative_ridge"]))
            step = factor * (whitened.mT if turned else whitened)
        return *_parted(step, seen), after

    def _with(self, kept: Kept, rows: dict[str, Tensor], name: str, settings: Settings) -> Kept:
        """Return both moments with these rows averaged in."""
        count = kept["count"] + 1 if kept else rows["inputs"].new_ones(())
        past = min(1 - 1 / float(count), settings["decay"])
        after = {"count": count}
        for side, of_side in rows.items():
            told, rank = (f"{name}, {side}", self._processes), settings[f"rank_of_{side}"]
            found = (
                averaged(_moment(kept, side), of_side, past, *told)
                if kept
                else estimated(of_side, rank, *told)
            )
            after |= {f"{side}_{part}": tensor for part, tensor in vars(found).items()}
        return after

    def _lengthening(self, rows: Tensor, whitened: Tensor) -> Tensor:
        """Return what makes the whitened rows of all processes as long as they were, in the mean square."""
        squares = torch.stack([rows.square().sum(), whitened.square().sum()])
        before, after = self._processes.total(squares)
        return (before / after).sqrt() if after > 0 else torch.ones_like(after)


def _moment(kept: Kept, side: str) -> LowRank:
    return LowRank(**{part: kept[f"{side}_{part}"] for part in ("basis", "values", "floor")})


def _homogeneous(seen: Seen) -> Tensor:
    """Return x, a row for each use."""
    return torch.cat([seen.rows, torch.ones_like(seen.rows[:, :1])], dim=1) if seen.biased else seen.rows


def _joined(seen: Seen) -> Tensor:
    """Return the mean of g xᵀ."""
    if not seen.biased:
        return seen.weight_gradient
    return torch.cat([seen.weight_gradient, seen.bias_gradient[:, None]], dim=1)


def _parted(step: Tensor, seen: Seen) -> tuple[Tensor, Tensor]:
    return (step[:, :-1], step[:, -1]) if seen.biased else (step, torch.zeros_like(seen.bias_gradient))
