"""The perceptron of 1958: one unit that says yes or no."""

import torch
from torch import Tensor, nn

from worker.models.layers import linear


class ThresholdUnit(nn.Module):
    """Decides 1 where w·x + b > 0 and 0 elsewhere. It has no gradient and learns by a rule of its own."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.linear = linear(inputs, 1)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        sums: Tensor = self.linear(inputs)
        return (sums[:, 0] > 0).to(inputs.dtype)

    @torch.no_grad()
    def learn(self, inputs: Tensor, targets: Tensor) -> int:
        """Go through the examples, add or take away each that is decided wrongly; return how many were.

        Repeated, this ends without mistakes if and only if a plane parts the two kinds of examples.
        """
        mistakes = 0
        for example, target in zip(inputs, targets, strict=True):
            error = target - self(example[None])[0]
            self.linear.weight.add_(error * example)
            self.linear.bias.add_(error)
            mistakes += int(error != 0)
        return mistakes
