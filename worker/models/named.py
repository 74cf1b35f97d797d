"""The networks of the literature that these methods are judged on, by name.

    network = NETWORKS["mnist_autoencoder"]
    model = network.build(generator=generator)    # every setting of its builder can be replaced here

Where a paper leaves a size open, the choice and its reason stand in a comment.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from torch import nn

from worker.models.autoencoder import autoencoder
from worker.models.convolutional import Convolution, convolutional
from worker.models.perceptron import perceptron
from worker.training.initialisation import balanced


@dataclass(frozen=True, kw_only=True)
class Network:
    """A builder whose sizes are set, the shape of one example, and the link from outputs to predictions."""

    build: Callable[..., nn.Module]
    shape: tuple[int, ...]
    link: str  # "identity", "logistic" or "softmax": it belongs to the loss, the outputs are linear


def _classifier(*sizes: int, **settings: object) -> Network:
    return Network(build=partial(perceptron, sizes, **settings), shape=sizes[:1], link="softmax")  # type: ignore[arg-type] # as named in the table


def _autoencoder(*encoder: int, link: str) -> Network:
    return Network(build=partial(autoencoder, encoder), shape=encoder[:1], link=link)


def _convolutional(shape: tuple[int, ...], *convolutions: Convolution, sizes: tuple[int, ...]) -> Network:
    return Network(build=partial(convolutional, shape, convolutions, sizes), shape=shape, link="softmax")


NETWORKS: Final[Mapping[str, Network]] = {
    # Deep autoencoders (Hinton & Salakhutdinov 2006; Martens 2010)
    "curves_autoencoder": _autoencoder(784, 400, 200, 100, 50, 25, 6, link="logistic"),
    "mnist_autoencoder": _autoencoder(784, 1000, 500, 250, 30, link="logistic"),
    "faces_autoencoder": _autoencoder(625, 2000, 1000, 500, 30, link="identity"),
    # Natural gradient for deep networks (Pascanu & Bengio 2014). It tells neither stride nor pool: the pools
    # here keep the first linear layer at a size that a machine can hold.
    "mnist_wide": _classifier(784, 1500, 10),
    "mnist_convolutional": _convolutional(
        (1, 28, 28),
        Convolution(filters=32, kernel=5, pool=2),
        Convolution(filters=64, kernel=5, pool=2),
        sizes=(750, 10),
    ),
    "faces_convolutional": _convolutional(
        (1, 48, 48), Convolution(filters=300, kernel=12, pool=6), sizes=(2048, 1024, 7)
    ),
    "nist_wide": _classifier(1024, 500, 62),
    # The same in small, for the digits of 8 by 8 pixels
    "digits_wide": _classifier(64, 100, 10),
    "digits_convolutional": _convolutional(
        (1, 8, 8), Convolution(filters=8, kernel=3), Convolution(filters=16, kernel=3), sizes=(32, 10)
    ),
    # A rectifier network for lectures; the size of its second hidden layer is ours
    "mnist_rectifier": _classifier(784, 225, 144, 10, activation="relu", initialise=balanced()),
    # Small enough for a dense Fisher matrix (Martens & Grosse 2015); digits of 16 by 16 pixels
    "narrow_deep": _classifier(256, 20, 20, 20, 20, 20, 10),
}
