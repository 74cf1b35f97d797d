"""The smallest autoencoder: one number in, one hidden unit, the same weight and bias on both ways."""

import torch
from torch import Tensor, nn


class OneUnitAutoencoder(nn.Module):
    """x ↦ w · logistic(w x + b) - b. Its loss is a landscape over two parameters that can be drawn."""

    def __init__(self, weight: float, bias: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight))
        self.bias = nn.Parameter(torch.tensor(bias))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.weight * torch.sigmoid(self.weight * inputs + self.bias) - self.bias
