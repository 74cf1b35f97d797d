from typing import final

import torch
from torch import Tensor, nn


@final
class TransformedLayer(nn.Module):
    """Two layers of weights around tanh units of zero mean and zero mean slope, and a skip connection.

        y = A f(B x) + C x + c,   f(t) = tanh(t) + slope t + shift, unit by unit

    (Raiko, Valpola & LeCun 2012; Vatanen et al. 2013). `transform` takes slope and shift from the data,
    and gives C and c what the units lost, so that the layer computes what it did. The units then tell what
    the skip connection cannot, and the Hessian's eigenvalues become more alike. Call it now and then; a
    fresh layer has zeros for slope, shift and C. B has a bias of its own.
    """

    slope: Tensor
    shift: Tensor

    def __init__(self, in_features: int, hidden: int, out_features: int) -> None:
        super().__init__()
        self.inner = nn.Linear(in_features, hidden)  # B
        self.outer = nn.Linear(hidden, out_features)  # A, c
        self.skip = nn.Linear(in_features, out_features, bias=False)  # C
        nn.init.zeros_(self.skip.weight)
        self.register_buffer("slope", torch.zeros(hidden))
        self.register_buffer("shift", torch.zeros(hidden))

    def forward(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.outer(self.units(inputs)) + self.skip(inputs)
        return outputs

    def units(self, inputs: Tensor) -> Tensor:
        """Return f(B x), one row per case."""
        sums = self.inner(inputs)
        units: Tensor = torch.tanh(sums) + self.slope * sums + self.shift
        return units

    @torch.no_grad()
    def transform(self, inputs: Tensor) -> None:
        """Set slope to -mean tanh'(Bx), then shift to -mean [tanh(Bx) + slope Bx], and make up for both."""
        sums = self.inner(inputs)
        slope = -(1 - torch.tanh(sums).square()).mean(dim=0)
        shift = -(torch.tanh(sums) + slope * sums).mean(dim=0)

        lost = self.outer.weight * (self.slope - slope)  # A diag(slope_before - slope)
        self.skip.weight.add_(lost @ self.inner.weight)
        self.outer.bias.add_(lost @ self.inner.bias + self.outer.weight @ (self.shift - shift))
        self.slope.copy_(slope)
        self.shift.copy_(shift)
