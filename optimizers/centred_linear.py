from typing import final

import torch
from torch import Tensor, nn


@final
class CentredLinear(nn.Module):
    """A linear layer of centred inputs, s = W (h - μ) + d, whose μ can follow the data.

    `recentre` moves μ and changes d with it, so that the layer computes what it did before. Gradient descent
    on W and d is then mean-normalised: `CentredGradientDescent` with `consistent_bias` does the same to a
    plain nn.Linear.
    """

    mean: Tensor

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        plain = nn.Linear(in_features, out_features)
        self.weight, self.bias = plain.weight, plain.bias
        self.register_buffer("mean", torch.zeros(in_features))

    def forward(self, inputs: Tensor) -> Tensor:
        return nn.functional.linear(inputs - self.mean, self.weight, self.bias)

    @torch.no_grad()
    def recentre(self, mean: Tensor) -> None:
        """Take this μ, and d + W (μ - μ_before) for d."""
        self.bias.add_(self.weight @ (mean - self.mean))
        self.mean.copy_(mean)
