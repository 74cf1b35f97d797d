from typing import final

import torch
from torch import Tensor, nn


@final
class MeanOnlyBatchNorm(nn.Module):
    """Takes from each unit its mean over the batch and adds a learned offset β; nothing is scaled.

    out = s - mean s + β, so that the gradient of s is d - mean d, with d the gradient of out. The layer
    before it needs no bias. With h its inputs, its weights get the centred gradient,
    mean of (d - mean d) hᵀ = mean of d (h - mean h)ᵀ.

    Dimension 1 counts the units; the mean is over all others. In evaluation the mean is a running one.
    """

    running_mean: Tensor

    def __init__(self, units: int, *, decay: float = 0.9) -> None:
        super().__init__()
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be from 0 to below 1, got {decay!r}. A good first try is 0.9.")
        self.decay = decay
        self.bias = nn.Parameter(torch.zeros(units))
        self.register_buffer("running_mean", torch.zeros(units))

    def forward(self, sums: Tensor) -> Tensor:
        mean = self._batch_mean(sums) if self.training else self.running_mean
        return sums + (self.bias - mean).reshape(-1, *[1] * (sums.dim() - 2))

    def _batch_mean(self, sums: Tensor) -> Tensor:
        mean = sums.mean(dim=[0, *range(2, sums.dim())])
        self.running_mean.lerp_(mean.detach(), 1 - self.decay)
        return mean
