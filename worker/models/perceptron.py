"""The multilayer perceptron."""

from collections.abc import Sequence
from itertools import pairwise

from torch import Generator, nn


def perceptron(sizes: Sequence[int], generator: Generator) -> nn.Sequential:
    """Return a network of linear layers of these sizes with tanh between them, Glorot initialised."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        linear = nn.Linear(inputs, outputs)
        nn.init.xavier_uniform_(linear.weight, generator=generator)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])
