"""What a network starts from: rules that set every weight and bias of it from one generator.

A rule is made with its settings and then applied: `he(alpha=2.0)(model, generator)`. The fans of a layer,
n_in and n_out, count the weights into a unit and out of an input, kernels included. Biases are 0 unless told.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

import torch
from torch import Generator, Tensor, nn

from worker.training.settings import above_zero, chosen

Initialisation: TypeAlias = Callable[[nn.Module, Generator], None]
Weighted: TypeAlias = nn.Linear | nn.Conv1d | nn.Conv2d


def initialisation(name: str, **settings: object) -> Initialisation:
    """Return the rule of this name. Raises ValueError that names what is wrong and what there is."""
    return chosen("initialisation", INITIALISATIONS, name, **settings)


def glorot(*, alpha: float = 2.0) -> Initialisation:
    """Uniform weights of variance alpha/(n_in + n_out); logistic units want 16 times the usual alpha."""
    above_zero("alpha", alpha)

    def fill(weight: Tensor, generator: Generator) -> None:
        bound = math.sqrt(3 * alpha / sum(fans(weight)))
        weight.uniform_(-bound, bound, generator=generator)

    return partial(_initialise, fill)


def he(*, alpha: float = 2.0) -> Initialisation:
    """Gaussian weights of variance alpha/n_in: at 2, ReLU units keep the size of the signal."""
    above_zero("alpha", alpha)

    def fill(weight: Tensor, generator: Generator) -> None:
        weight.normal_(0, math.sqrt(alpha / fans(weight)[0]), generator=generator)

    return partial(_initialise, fill)


def balanced(*, alpha: float = 4.0) -> Initialisation:
    """Gaussian weights of variance alpha/(n_in + n_out).

    At 4 this lies between 2/n_in, with which ReLU units keep the size of the signal on its way forward, and
    2/n_out, with which they keep that of the gradient on its way back.
    """
    above_zero("alpha", alpha)

    def fill(weight: Tensor, generator: Generator) -> None:
        weight.normal_(0, math.sqrt(alpha / sum(fans(weight))), generator=generator)

    return partial(_initialise, fill)


def orthogonal(*, gain: float = 1.0) -> Initialisation:
    """Orthonormal rows or columns times the gain, uniform among all such matrices."""
    above_zero("gain", gain)

    def fill(weight: Tensor, generator: Generator) -> None:
        nn.init.orthogonal_(weight, gain, generator)  # Q of a Gaussian matrix, with the signs of R's diagonal

    return partial(_initialise, fill)


def sparse(*, connections: int = 15, deviation: float = 1.0, bias: float = 0.0) -> Initialisation:
    """Give each unit this many Gaussian weights at random places, or all it can have; the rest is 0."""
    above_zero("connections", connections)

    def fill(weight: Tensor, generator: Generator) -> None:
        _scatter(weight, connections, deviation, generator)

    return partial(_initialise, fill, bias=bias)


def sparse_tanh(*, connections: int = 15) -> Initialisation:
    """Return `sparse` as tanh units want it: a quarter of the weights, and biases of ½."""
    return sparse(connections=connections, deviation=0.25, bias=0.5)


def sparse_recurrent(*, connections: int = 15) -> Initialisation:
    """`sparse`, but what does not read the inputs has variance 1/connections, and so have all biases."""
    above_zero("connections", connections)
    deviation = 1 / math.sqrt(connections)

    @torch.no_grad()
    def initialise(model: nn.Module, generator: Generator) -> None:
        for number, layer in enumerate(weighted_layers(model).values()):
            _scatter(layer.weight, connections, 1.0 if number == 0 else deviation, generator)
            if layer.bias is not None:
                layer.bias.normal_(0, deviation, generator=generator)

    return initialise


def nguyen_widrow() -> Initialisation:
    """Spread the bends of each hidden layer evenly over inputs in [-1, 1] (Nguyen & Widrow 1990).

    A hidden unit's weights point anywhere and have length 0.7 · units^(1/n_in); its bias is uniform up to
    that length. The last layer is uniform in [-½, ½].
    """

    @torch.no_grad()
    def initialise(model: nn.Module, generator: Generator) -> None:
        *hidden, last = weighted_layers(model).values()
        for layer in hidden:
            _spread(layer, generator)
        for parameter in last.parameters():
            parameter.uniform_(-0.5, 0.5, generator=generator)

    return initialise


INITIALISATIONS: Final[Mapping[str, Callable[..., Initialisation]]] = {
    "balanced": balanced,
    "glorot": glorot,
    "he": he,
    "nguyen_widrow": nguyen_widrow,
    "orthogonal": orthogonal,
    "sparse": sparse,
    "sparse_recurrent": sparse_recurrent,
    "sparse_tanh": sparse_tanh,
}


def weighted_layers(model: nn.Module) -> dict[str, Weighted]:
    """Return the linear and convolutional layers of a model by name, in its own order."""
    return {name: module for name, module in model.named_modules() if isinstance(module, Weighted)}


def fans(weight: Tensor) -> tuple[int, int]:
    """Return how many weights lead into one unit, and how many out of one input."""
    kernel = weight[0, 0].numel()
    return weight.shape[1] * kernel, weight.shape[0] * kernel


@torch.no_grad()
def _initialise(
    fill: Callable[[Tensor, Generator], None], model: nn.Module, generator: Generator, *, bias: float = 0.0
) -> None:
    for layer in weighted_layers(model).values():
        fill(layer.weight, generator)
        if layer.bias is not None:
            layer.bias.fill_(bias)


def _scatter(weight: Tensor, connections: int, deviation: float, generator: Generator) -> None:
    units = weight.view(len(weight), -1)
    count = min(connections, units.shape[1])
    places = (
        torch.rand(units.shape, generator=generator).topk(count, dim=1).indices
    )  # each set equally likely
    values = torch.randn(len(units), count, generator=generator) * deviation
    weight.zero_()
    units.scatter_(1, places, values.to(units.dtype))


def _spread(layer: Weighted, generator: Generator) -> None:
    units = layer.weight.view(len(layer.weight), -1)
    length = 0.7 * len(units) ** (1 / units.shape[1])
    units.normal_(generator=generator)
    units.mul_(length / units.norm(dim=1, keepdim=True))
    if layer.bias is not None:
        layer.bias.uniform_(-length, length, generator=generator)
