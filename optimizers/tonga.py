"""Topmoumoute online natural gradient (Le Roux, Manzagol & Bengio 2008)."""

import math
from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.curvature.dense import gradients_by_case
from optimizers.curvature.low_rank import compressed
from optimizers.curvature.unit_blocks import joined_by_unit, parted_by_unit, units_of
from optimizers.curvature.vectors import Params, flat, shaped, shaped_rows
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.woodbury import solve_with_rows
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole


@final
class TONGA(Whole):
    """δ = -lr (C + λ I)⁻¹ ∇h, where C ← γ C + (1/n) Σ g gᵀ gathers the gradients g of cases, batch by batch.

    C is kept as few rows x, C = Σ x xᵀ: `rank` of its eigenvectors, and the gradients that came since. From
    `compress_every` gradients on that are kept beside the eigenvectors, eigenvectors are made of all. The
    system is solved by the matrix of all xᵀ x. With batches of one case it is the method as published.

    C has a block for each unit, its incoming weights with its bias, and nothing between units; or, unless
    `by_unit`, is one matrix of all parameters. γ is `decay`: C is a sum, about 1 / (1 - γ) times the mean
    of g gᵀ. What a layer's gradients were is forgotten where it is frozen.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=1e-2, high=10.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-3, high=10.0, log=True),
        Hyperparameter(name="rank", kind="int", default=5, low=1, high=50, log=True),
        Hyperparameter(name="by_unit", kind="boolean", default=True),
    )
    _own = Whole._own | {"_rank", "_compress_every", "_by_unit", "_rows"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        damping: float = 0.1,  # λ
        rank: int = 5,  # k
        compress_every: int = 50,  # gradients, b
        by_unit: bool = True,
        decay: float = 0.995,  # γ
        group: Group = None,
    ) -> None:
        for name, count in (("rank", rank), ("compress_every", compress_every)):
            if count < 1:
                raise ValueError(f"{name} is a count and must be at least 1, got {count!r}.")
        if not damping > 0:
            raise ValueError(f"damping must be above 0, as C has few directions, got {damping!r}. Try 0.1.")
        if not 0 <= decay <= 1:
            raise ValueError(f"decay must be from 0 to 1, got {decay!r}. Try 0.995.")
        super().__init__(model, objective, {"lr": lr, "damping": damping, "decay": decay}, None, group)
        self._rank, self._compress_every, self._by_unit = rank, compress_every, by_unit
        self._rows: Params = {}  # x, by parameter: layers may be unfrozen

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, damping = (float(self.param_groups[0][name]) for name in ("lr", "damping"))
        params = given.network.params
        with torch.no_grad(), watch.phase("curvature"):
            rows = self._with_newest(given)
        slopes = {name: slope[None] for name, slope in shaped(gradient, params).items()}
        many = len(next(iter(rows.values()))) >= self._rank + self._compress_every
        directions: Params = {}
        kept: Params = {} if many else rows
        for names, units in units_of(params) if self._by_unit else [([*params], 1)]:
            with watch.phase("solve"):
                x, g = (joined_by_unit(each, names, units) for each in (rows, slopes))
                n = solve_with_rows(x, g[:, 0], damping)
                directions |= parted_by_unit(n[:, None], names, params)
            if many:
                with watch.phase("compress"):
                    kept |= parted_by_unit(compressed(x, self._rank, names[0]), names, params)
        update = -lr * flat({name: directions[name] for name in params})
        if not update.isfinite().all():
            return None
        self._rows = kept
        return update, {}

    def _with_newest(self, given: Given) -> Params:
        """Return the rows of γ C + (1/n) Σ g gᵀ, where what knew no gradient yet has 0."""
        params = given.network.params
        own = gradients_by_case(given.network, self._objective, given.targets)
        newest = self._processes.rows_of_all(own)
        past = math.sqrt(float(self.param_groups[0]["decay"]))
        count = max(map(len, self._rows.values()), default=0)
        before = {
            name: self._rows[name].to(p) if name in self._rows else p.new_zeros(count, *p.shape)
            for name, p in params.items()
        }
        return {
            name: torch.cat([past * before[name], g])
            for name, g in shaped_rows(newest / math.sqrt(len(newest)), params).items()
        }

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "rows": dict(self._rows)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings and the rows of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._rows = dict(state_dict["rows"])
