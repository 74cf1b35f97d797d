"""Averages, by name, of what changes from batch to batch: at first plain means, later of the latest."""

from collections.abc import Mapping
from typing import TypeAlias

import torch
from torch import Tensor

Running: TypeAlias = dict[str, tuple[Tensor, int]]  # the average, and of how many


def averaged(
    running: Mapping[str, tuple[Tensor, int]], newest: Mapping[str, Tensor], decay: float
) -> Running:
    """Return p ← e p + (1 - e) newest with e = min(1 - 1/k, decay) at the k-th; names without news stay."""
    return {**running, **{name: _next(running.get(name), tensor, decay) for name, tensor in newest.items()}}


def _next(before: tuple[Tensor, int] | None, newest: Tensor, decay: float) -> tuple[Tensor, int]:
    if before is None:
        return newest, 1
    average, count = before[0].to(newest), before[1] + 1
    return torch.lerp(newest, average, min(1 - 1 / count, decay)), count
