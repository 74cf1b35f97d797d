"""The multilayer perceptron."""

from collections.abc import Sequence

from torch import Generator, nn

from worker.models.layers import dense
from worker.training.initialisation import Initialisation, glorot


def perceptron(
    sizes: Sequence[int],
    generator: Generator,
    *,
    activation: str = "tanh",
    output: str = "identity",
    normalisation: str | None = None,
    initialise: Initialisation | None = None,  # glorot, unless told
) -> nn.Sequential:
    """Return a network of linear layers of these sizes. Raises ValueError for an unknown name.

    A normalisation stands between a hidden linear layer and its activation.
    """
    model = nn.Sequential(*dense(sizes, activation=activation, output=output, normalisation=normalisation))
    (initialise or glorot())(model, generator)
    return model
