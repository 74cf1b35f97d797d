"""Train a network to tell classes apart."""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Generator, Tensor, nn

from optimizers import CrossEntropy
from thiessen.space import Config
from worker.config import setting, wrong
from worker.datasets import Dataset, Part, load
from worker.datasets.catalogue import ENTRIES
from worker.datasets.copies import with_copies
from worker.models.convolutional import Convolution, convolutional
from worker.models.layers import NORMALISATIONS
from worker.models.named import NETWORKS
from worker.models.perceptron import perceptron
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
from worker.training.streams import Streams

NAMED: Final = tuple(name for name, network in NETWORKS.items() if network.link == "softmax")


@dataclass(frozen=True, kw_only=True)
class Classifier(NetworkSettings):
    """What a config may set, and what holds where it does not."""

    dataset: str = setting(
        "digits",
        "What is trained on.",
        choices=tuple(name for name, entry in ENTRIES.items() if entry.classes is not None),
    )
    substitute: bool = setting(False, "Whether another data set may stand in where files are absent.")
    hold_back: bool = setting(True, "Whether a part of the training cases is kept to choose configs by.")
    cases: int = setting(0, "Training cases: the first so many; 0: all.", low=0, high=1_000_000_000)
    copies: int = setting(
        0, "Of images: copies of each training case, shifted and turned at random.", low=0, high=100
    )
    copies_shift: float = setting(
        0.5, "Of copies: pixels by which one is shifted at most, on each axis.", low=0, high=1000
    )
    copies_turn: float = setting(
        10.0, "Of copies: degrees by which one is turned at most, to either side.", low=0, high=180
    )
    network: str = setting(
        "perceptron",
        "`perceptron`: hidden layers; `convolutional`: filters before them; or a named network, which has "
        "sizes, activations and normalisation of its own.",
        choices=("perceptron", "convolutional", *NAMED),
    )
    normalisation: str = setting(
        "none", "What follows each hidden layer of a perceptron.", choices=("none", *NORMALISATIONS)
    )
    convolutions: int = setting(2, "Of `convolutional`: layers of filters.", low=1, high=20)
    filters: int = setting(
        8,
        "Of `convolutional`: filters of the first layer; each later one has twice as many.",
        low=1,
        high=4096,
    )
    kernel: int = setting(3, "Of `convolutional`: side of a filter in pixels.", low=1, high=100)
    pool: int = setting(1, "Of `convolutional`: side of the square whose maximum is kept.", low=1, high=100)


def train(config: Config, context: Context) -> float:
    """Train a network and return what the trial is judged by. Raises ValueError, Diverged, Pruned."""
    chosen = settings(Classifier, config)
    check_whole_batches(chosen.normalisation, chosen)
    data = load(chosen.dataset, substitute=chosen.substitute, validation=chosen.hold_back)
    streams = Streams(context.seed)
    model = network(chosen, data, streams("weights"))
    shape = _shape(chosen.network, data)
    learned = _learned(chosen, data, streams("copies"))
    parts = {
        name: Part(part.inputs.reshape(-1, *shape), part.targets)
        for name, part in (parts_of(data) | {"train": learned}).items()
    }
    return trained(chosen, model, CrossEntropy(), wrong_class, parts, context)


def network(chosen: Classifier, data: Dataset, generator: Generator) -> nn.Module:
    """Return the network that is chosen, its weights set. Raises ValueError when it does not fit the data."""
    start, classes = chosen.initialise(), data.classes or 0
    if chosen.network in NETWORKS:
        _check_fits(chosen, data)
        return NETWORKS[chosen.network].build(generator=generator, initialise=start)
    if chosen.network == "convolutional":
        if len(data.shape) < 2:
            raise wrong("network", chosen.network, f"{data.name} has no images; take a perceptron")
        filters = [
            Convolution(filters=chosen.filters * 2**layer, kernel=chosen.kernel, pool=chosen.pool)
            for layer in range(chosen.convolutions)
        ]
        sizes = [chosen.hidden] * chosen.depth + [classes]
        return convolutional(
            data.shape, filters, sizes, generator, activation=chosen.activation, initialise=start
        )
    return perceptron(
        [data.train.inputs.shape[1], *[chosen.hidden] * chosen.depth, classes],
        generator,
        activation=chosen.activation,
        normalisation=None if chosen.normalisation == "none" else chosen.normalisation,
        initialise=start,
    )


def wrong_class(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return 1 for each case whose likeliest class is a wrong one, else 0."""
    return (outputs.argmax(dim=1) != targets).to(torch.float64)


def _learned(chosen: Classifier, data: Dataset, chance: Generator) -> Part:
    """Return the cases to train on, and their copies. Raises ValueError for copies of what is no image."""
    few = slice(chosen.cases or None)
    part = Part(data.train.inputs[few], data.train.targets[few])
    if not chosen.copies:
        return part
    if len(data.shape) < 2:
        raise wrong("copies", chosen.copies, f"{data.name} has no images; leave it 0")
    return with_copies(
        part,
        data.shape,
        chance,
        copies=chosen.copies,
        shift=chosen.copies_shift,
        turn=chosen.copies_turn,
    )


def _shape(name: str, data: Dataset) -> tuple[int, ...]:
    """Return the shape in which a network sees one example."""
    if name == "convolutional":
        return data.shape
    return NETWORKS[name].shape if name in NETWORKS else data.train.inputs.shape[1:]


def _check_fits(chosen: Classifier, data: Dataset) -> None:
    wanted, given = torch.Size(NETWORKS[chosen.network].shape).numel(), data.train.inputs.shape[1]
    if wanted != given:
        raise wrong(
            "network", chosen.network, f"it sees {wanted} inputs, and {data.name} has {given}; take another"
        )


TASK: Final = Task(
    "classifier",
    train,
    description="Train a network to tell classes apart: perceptrons, convolutional networks.",
    schema=schema_of(Classifier),
    spaces=spaces_of(Classifier),
)
