"""Networks whose first layers share their weights over all places of a sequence or an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch import Generator, nn
from torch.nn.utils import skip_init

from worker.models.layers import activation_layer, dense
from worker.training.initialisation import Initialisation, he


@dataclass(frozen=True, kw_only=True)
class Convolution:
    """One layer of filters, each seen at every place that its kernel fits in; then the maximum over pools."""

    filters: int
    kernel: int
    stride: int = 1
    pool: int = 1  # as wide as the step from one pool to the next

    def places(self, size: int) -> int:
        """Return how many places are left of so many. Raises ValueError when none is."""
        left = max((size - self.kernel) // self.stride + 1, 0) // self.pool
        if left < 1:
            raise ValueError(f"{self} leaves nothing of {size} places. Make its kernel or its pool smaller.")
        return left


def convolutional(
    shape: Sequence[int],
    convolutions: Sequence[Convolution],
    sizes: Sequence[int],
    generator: Generator,
    *,
    activation: str = "relu",
    output: str = "identity",
    initialise: Initialisation | None = None,  # he, unless told
) -> nn.Sequential:
    """Return convolutions, then linear layers of these sizes. Raises ValueError when no place is left.

    The shape of one example is (channels, length) or (channels, height, width).
    """
    if len(shape) not in {2, 3}:
        raise ValueError(f"An example of shape {tuple(shape)} is no sequence (2 numbers) and no image (3).")
    layers: list[nn.Module] = []
    for convolution in convolutions:
        layers += _layers(convolution, shape, activation)
        shape = (convolution.filters, *map(convolution.places, shape[1:]))
    layers += [nn.Flatten(), *dense([prod(shape), *sizes], activation=activation, output=output)]
    model = nn.Sequential(*layers)
    (initialise or he())(model, generator)
    return model


def _layers(convolution: Convolution, shape: Sequence[int], activation: str) -> list[nn.Module]:
    kind, pool = (nn.Conv1d, nn.MaxPool1d) if len(shape) == 2 else (nn.Conv2d, nn.MaxPool2d)
    filters = skip_init(
        kind, shape[0], convolution.filters, kernel_size=convolution.kernel, stride=convolution.stride
    )
    layers = [filters, activation_layer(activation)]
    return layers if convolution.pool == 1 else [*layers, pool(convolution.pool)]
