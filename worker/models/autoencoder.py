"""Networks that give back what they are given, through a bottleneck."""

from collections import OrderedDict
from collections.abc import Sequence

from torch import Generator, nn

from worker.models.layers import dense
from worker.training.initialisation import Initialisation, sparse


def autoencoder(
    encoder: Sequence[int],
    generator: Generator,
    *,
    decoder: Sequence[int] | None = None,  # the encoder's sizes in reverse, unless told
    hidden: str = "logistic",
    output: str = "identity",
    normalisation: str | None = None,
    initialise: Initialisation | None = None,  # sparse, unless told
) -> nn.Sequential:
    """Return an `encoder` and a `decoder`, each a stack of layers, with linear units in the bottleneck.

    The output is linear too, unless told: a logistic link with a cross-entropy belongs to the loss. A
    normalisation stands between a hidden linear layer and its activation; bottleneck and output have none.
    Raises ValueError when the decoder does not lead from the bottleneck back to the inputs.
    """
    back = list(reversed(encoder)) if decoder is None else list(decoder)
    if [back[0], back[-1]] != [encoder[-1], encoder[0]]:
        raise ValueError(f"A decoder {back} does not lead from {encoder[-1]} units back to {encoder[0]}.")
    model = nn.Sequential(
        OrderedDict(
            encoder=nn.Sequential(*dense(encoder, activation=hidden, normalisation=normalisation)),
            decoder=nn.Sequential(
                *dense(back, activation=hidden, output=output, normalisation=normalisation)
            ),
        )
    )
    (initialise or sparse())(model, generator)
    return model
