"""Networks that read a sequence and remember."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Generator, Tensor, nn

from worker.models.layers import activation_layer, linear
from worker.training.initialisation import Initialisation, sparse_recurrent


class RecurrentLayer(nn.Module):
    """a(t) = φ(W a_below(t) + V a(t-1) + b), with a(0) = 0; without memory there is no V."""

    def __init__(self, inputs: int, units: int, *, activation: str, memory: bool) -> None:
        super().__init__()
        self.from_below = linear(inputs, units)
        self.from_before = linear(units, units, bias=False) if memory else None  # one bias a layer
        self.activation = activation_layer(activation)

    def forward(self, below: Tensor, before: Tensor | None) -> Tensor:
        sums: Tensor = self.from_below(below)
        if self.from_before is not None and before is not None:  # before the first step all is 0
            sums = sums + self.from_before(before)
        activities: Tensor = self.activation(sums)
        return activities


class Recurrent(nn.Module):
    """Layers on each other, unrolled: from (sequences, steps, inputs) to (sequences, steps, outputs)."""

    def __init__(self, layers: Sequence[RecurrentLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, sequences: Tensor) -> Tensor:
        state: list[Tensor | None] = [None] * len(self.layers)
        outputs = []
        for activities in sequences.unbind(dim=1):
            below = activities
            for number, layer in enumerate(self.layers):
                below = state[number] = layer(below, state[number])
            outputs.append(below)
        return torch.stack(outputs, dim=1)


def recurrent(
    sizes: Sequence[int],
    generator: Generator,
    *,
    activation: str = "tanh",
    output: str = "identity",
    output_memory: bool = False,
    initialise: Initialisation | None = None,  # sparse_recurrent, unless told
) -> Recurrent:
    """Return a network whose hidden layers, and the output if told, see what they were one step before.

    With three sizes this is the usual shallow network: inputs, one hidden layer, outputs.
    """
    if len(sizes) < 2:
        raise ValueError(f"A recurrent network needs two sizes or more, got {list(sizes)}.")
    *hidden, last = pairwise(sizes)
    layers = [RecurrentLayer(*pair, activation=activation, memory=True) for pair in hidden]
    layers.append(RecurrentLayer(*last, activation=output, memory=output_memory))
    model = Recurrent(layers)
    (initialise or sparse_recurrent())(model, generator)
    return model
