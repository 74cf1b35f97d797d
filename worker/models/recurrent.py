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

    def forward(self, below: Tensor) -> Tensor:
        """Return the activities at all steps: (sequences, steps, units)."""
        sums: Tensor = self.from_below(below)
        if self.from_before is None:
            activities: Tensor = self.activation(sums)
            return activities
        states: list[Tensor] = []
        for of_step in sums.unbind(dim=1):
            said = of_step + self.from_before(states[-1]) if states else of_step  # before the first all is 0
            states.append(self.activation(said))
        return torch.stack(states, dim=1)


class Recurrent(nn.Module):
    """Layers on each other, unrolled: from (sequences, steps, inputs) to (sequences, steps, outputs)."""

    def __init__(self, layers: Sequence[RecurrentLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, sequences: Tensor) -> Tensor:
        activities = sequences
        for layer in self.layers:  # all steps of a layer at once: fewer and larger products
            activities = layer(activities)
        return activities


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
