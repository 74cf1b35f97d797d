"""What networks are stacked of. Their weights are not set yet: an initialisation does it."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from torch import nn
from torch.nn.utils import skip_init

from optimizers import MeanOnlyBatchNorm
from worker.training.settings import chosen

ACTIVATIONS: Final[Mapping[str, Callable[[], nn.Module]]] = {
    "identity": nn.Identity,
    "logistic": nn.Sigmoid,
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
}
NORMALISATIONS: Final[Mapping[str, Callable[[int], nn.Module]]] = {
    "batch": nn.BatchNorm1d,
    "mean_only": MeanOnlyBatchNorm,
}


def activation_layer(name: str) -> nn.Module:
    """Return a layer that applies this function to each unit. Raises ValueError for an unknown name."""
    return chosen("activation", ACTIVATIONS, name)


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """Return a linear layer without drawing its weights: torch would draw them from its global stream."""
    layer: nn.Linear = skip_init(nn.Linear, inputs, outputs, bias=bias)
    return layer


def dense(
    sizes: Sequence[int], *, activation: str, output: str = "identity", normalisation: str | None = None
) -> list[nn.Module]:
    """Return linear layers of these sizes, what follows each hidden one, and what follows the last one."""
    if len(sizes) < 2 or min(sizes) < 1:
        raise ValueError(f"A network needs two sizes or more, each at least 1; got {list(sizes)}.")
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes[:-1]):
        layers += [
            linear(inputs, outputs, bias=normalisation is None),  # a normalisation brings its own offset
            *_normalisation(normalisation, outputs),
            activation_layer(activation),
        ]
    layers.append(linear(sizes[-2], sizes[-1]))
    return layers if output == "identity" else [*layers, activation_layer(output)]


def _normalisation(name: str | None, units: int) -> list[nn.Module]:
    if name is None:
        return []
    if name not in NORMALISATIONS:
        raise ValueError(
            f"There is no normalisation {name!r}. Choose one of {sorted(NORMALISATIONS)}, or none."
        )
    return [NORMALISATIONS[name](units)]
