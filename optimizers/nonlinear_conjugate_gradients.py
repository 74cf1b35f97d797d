"""Non-linear conjugate gradients (Polak & Ribière 1969, Hinton & Salakhutdinov 2006)."""

from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.damping.line_search import strong_wolfe
from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole


@final
class NonlinearConjugateGradients(Whole):
    """Lowers the loss of each batch by some line searches along conjugate directions.

        d ← -g + max(0, gᵀ(g - g') / ‖g'‖²) d,   g' the gradient where the search before began

    Each batch begins along -g, and so does every `restart_every`-th search on it, by default as many as there
    are parameters, and one for which d would not descend. A search ends where the slope along d is at most
    `slope_left` of what it was. No search ends higher than it began; lr multiplies the step they make
    together. On a quadratic, with slope_left near 0, it is the linear method.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=0.1, high=1.0, log=True),
        Hyperparameter(name="line_searches", kind="int", default=3, low=1, high=20, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
    )
    _own = Whole._own | {"_line_searches", "_restart_every", "_slope_left"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        line_searches: int = 3,  # on each batch
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        restart_every: int | None = None,  # searches
        slope_left: float = 0.1,  # c₂ of the strong Wolfe conditions
        group: Group = None,
    ) -> None:
        for name, count in (("line_searches", line_searches), ("restart_every", restart_every)):
            if count is not None and count < 1:
                raise ValueError(f"{name} counts line searches and must be at least 1, got {count!r}.")
        if not 0 < slope_left < 1:
            raise ValueError(f"slope_left must be above 0 and below 1, got {slope_left!r}. Try 0.1.")
        super().__init__(model, objective, {"lr": lr, "l2": l2}, None, group)
        self._line_searches, self._restart_every = line_searches, restart_every
        self._slope_left = slope_left

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, l2 = (float(self.param_groups[0][name]) for name in ("lr", "l2"))
        height = Height(self._objective, given.network, given.targets, l2, self._processes)
        with torch.no_grad(), watch.phase("search"):
            move, lowest, searches = self._lowered(height, torch.zeros_like(gradient))
        if not move.isfinite().all():
            return None
        return lr * move, {"loss_after": lowest if lr == 1 else None, "iterations": searches}

    def _lowered(self, height: Height, place: Tensor) -> tuple[Tensor, float, int]:
        """Return the place where the searches end, the height there, and how many they were."""
        restart_every = self._restart_every or len(place)
        lowest, slope = height.slope(place)
        direction, first = -slope, 1 / float(slope.abs().sum().clamp(min=1.0))
        for number in range(self._line_searches):
            if number % restart_every == 0:
                direction = -slope
            steepness = float(slope @ direction)
            if not steepness < 0:  # arrived
                return place, lowest, number
            alpha, found, slope_there = self._searched(height, place, lowest, slope, direction, first)
            if not found < lowest:
                return place, lowest, number
            before, slope, lowest, place = slope, slope_there, found, place + alpha * direction
            direction = conjugate(slope, before, direction)
            following = float(slope @ direction)
            first = alpha * steepness / following if following < 0 else 1.0  # as much again, to first order
        return place, lowest, self._line_searches

    def _searched(
        self, height: Height, place: Tensor, lowest: float, slope: Tensor, direction: Tensor, first: float
    ) -> tuple[float, float, Tensor]:
        """Return how far to go, the height there and the gradient."""
        seen = {0.0: (lowest, slope)}

        def along(alpha: float) -> tuple[float, float]:
            if alpha not in seen:
                seen[alpha] = height.slope(place + alpha * direction)
            value, slope = seen[alpha]
            return value, float(slope @ direction)

        alpha = strong_wolfe(along, first=first, slope_left=self._slope_left)
        along(alpha)
        return alpha, *seen[alpha]


def conjugate(slope: Tensor, before: Tensor, direction: Tensor) -> Tensor:
    """Return the next direction, which descends: Polak and Ribière's, or the steepest."""
    beta = (slope @ (slope - before) / (before @ before)).clamp(min=0.0)
    following = beta * direction - slope
    return following if slope @ following < 0 else -slope
