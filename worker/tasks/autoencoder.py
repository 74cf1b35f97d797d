"""Train a network to give back what it is given, through a narrow code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Generator, Tensor, nn

from optimizers import Bernoulli, squared_error
from thiessen.space import Config
from worker.config import setting, wrong
from worker.datasets import Dataset, Part, load, names
from worker.models.autoencoder import autoencoder
from worker.models.layers import NORMALISATIONS
from worker.models.named import NETWORKS
from worker.tasks.network import (
    NetworkSettings,
    check_whole_batches,
    parts_of,
    schema_of,
    settings,
    spaces_of,
    trained,
)
from worker.tasks.task import Context, Task
from worker.training.driven import Objective
from worker.training.pretraining import pretrain
from worker.training.streams import Streams

NAMED: Final = tuple(name for name in NETWORKS if name.endswith("autoencoder"))


@dataclass(frozen=True)
class Judged:
    """How a reconstruction is judged: by which loss, and what makes it of the outputs."""

    objective: Callable[[], Objective]
    output: str  # the last activation of the network
    predicted: Callable[[Tensor], Tensor]


LOSSES: Final[Mapping[str, Judged]] = {
    "cross_entropy": Judged(Bernoulli, "identity", torch.sigmoid),
    "squared": Judged(partial(squared_error, half=True), "identity", lambda outputs: outputs),
    "squared_logistic": Judged(partial(squared_error, half=True), "logistic", lambda outputs: outputs),
}


@dataclass(frozen=True, kw_only=True)
class Autoencoder(NetworkSettings):
    """What a config may set, and what holds where it does not."""

    dataset: str = setting("digits", "What is reconstructed.", choices=tuple(names()))
    substitute: bool = setting(False, "Whether another data set may stand in where files are absent.")
    hold_back: bool = setting(True, "Whether a part of the training cases is kept to choose configs by.")
    network: str = setting(
        "own",
        "`own`: by `hidden`, `depth` and `code`; or the sizes of a network from the literature.",
        choices=("own", *NAMED),
    )
    depth: int = setting(
        2, "Layers of the encoder, the code among them; the decoder mirrors them.", low=1, high=100
    )
    code: int = setting(8, "Units of the code. Layers shrink evenly from `hidden` to it.", low=1, high=10_000)
    activation: str = setting(
        "logistic", "What a hidden unit makes of its sum.", choices=("logistic", "relu", "tanh", "identity")
    )
    normalisation: str = setting(
        "none",
        "What follows each hidden layer, but for code and outputs.",
        choices=("none", *NORMALISATIONS),
    )
    loss: str = setting(
        "cross_entropy",
        "`cross_entropy` of logistic outputs, `squared` error of linear ones, or `squared_logistic`.",
        choices=tuple(LOSSES),
    )
    pretraining: bool = setting(False, "Whether layers are trained one by one before all together.")
    pretraining_epochs: int = setting(5, "Of pretraining: epochs of each layer.", low=1, high=10_000)
    pretraining_lr: float = setting(0.01, "Of pretraining: its learning rate.", above=0)
    pretraining_noise: float = setting(
        0.0, "Of pretraining: the part of its inputs that is set to 0.", low=0, below=1
    )

    def sizes(self, inputs: int) -> list[int]:
        """Return the units of each layer of the encoder, inputs and code included."""
        shrink = (self.code / self.hidden) ** (1 / max(self.depth - 1, 1))
        between = [round(self.hidden * shrink**layer) for layer in range(self.depth - 1)]
        return [inputs, *between, self.code]


def train(config: Config, context: Context) -> float:
    """Train an autoencoder and return what the trial is judged by. Raises ValueError, Diverged, Pruned."""
    chosen = settings(Autoencoder, config)
    check_whole_batches(chosen.normalisation, chosen)
    data = load(chosen.dataset, substitute=chosen.substitute, validation=chosen.hold_back)
    judged, streams = LOSSES[chosen.loss], Streams(context.seed)
    if chosen.loss != "squared" and not _are_shares(data.train.inputs):
        raise wrong("loss", chosen.loss, f"the inputs of {data.name} are not from 0 to 1; take 'squared'")
    parts = {name: Part(part.inputs, part.inputs) for name, part in parts_of(data).items()}

    def prepare(model: nn.Module, part: Part) -> None:
        if chosen.pretraining and isinstance(model, nn.Sequential):
            pretrain(
                model,
                part.inputs,
                streams("pretraining"),
                loss=judged.objective().loss,
                noise=chosen.pretraining_noise,
                lr=chosen.pretraining_lr,
                epochs=chosen.pretraining_epochs,
            )

    model = network(chosen, data, streams("weights"))
    error = partial(squared_distance, judged.predicted)
    return trained(chosen, model, judged.objective(), error, parts, context, prepare=prepare)


def network(chosen: Autoencoder, data: Dataset, generator: Generator) -> nn.Module:
    """Return the network that is chosen, its weights set. Raises ValueError when it does not fit the data."""
    inputs = data.train.inputs.shape[1]
    build: Callable[..., nn.Module] = partial(autoencoder, chosen.sizes(inputs))
    if chosen.network != "own":
        named = NETWORKS[chosen.network]
        if named.shape != (inputs,):
            cure = f"it sees {named.shape[0]} inputs, and {data.name} has {inputs}; take another"
            raise wrong("network", chosen.network, cure)
        build = named.build
    return build(
        generator=generator,
        hidden=chosen.activation,
        output=LOSSES[chosen.loss].output,
        normalisation=None if chosen.normalisation == "none" else chosen.normalisation,
        initialise=chosen.initialise(),
    )


def squared_distance(predicted: Callable[[Tensor], Tensor], outputs: Tensor, targets: Tensor) -> Tensor:
    """Return for each case how far its reconstruction is from it, squared and summed over its values."""
    return (predicted(outputs) - targets).square().sum(dim=1)


def _are_shares(inputs: Tensor) -> bool:
    return inputs.min().item() >= 0 and inputs.max().item() <= 1


TASK: Final = Task(
    "autoencoder",
    train,
    description="Train a deep autoencoder to reconstruct what it is given.",
    schema=schema_of(Autoencoder),
    spaces=spaces_of(Autoencoder),
)
