"""What losses are of: data, a network and its first weights, in a file that each environment reads.

Reading takes numpy alone. Two kinds of network: autoencoders with sigmoid units, a linear code and logits as
outputs, from sparse weights (Martens 2010), and convolutions with rectifiers and pooling, which tell ten
classes, from Gaussian weights for rectifiers (He et al. 2015).
"""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Layer = list[Any]  # its kind, and what it needs to be built
SEED = 0
JUDGED = 10_000  # training cases, at most, that a loss is the mean over


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A network for a data set of the worker's, and how many cases a batch has."""

    data: str
    batch: int
    widths: tuple[int, ...] = ()  # of an autoencoder
    channels: tuple[int, ...] = ()  # of a classifier

    def layers(self, shape: tuple[int, ...]) -> list[Layer]:
        """Return the network for inputs of this shape."""
        return _convolutions(self.channels, shape) if self.channels else _autoencoder(self.widths)

    def __str__(self) -> str:
        if self.channels:
            kind = f"classifier, 3 x 3 convolutions to {', '.join(map(str, self.channels))} channels"
        else:
            kind = f"autoencoder {'-'.join(map(str, self.widths))}"
        return f"{kind}, batches of {self.batch}"


PROBLEMS = {
    "curves": Problem(
        data="curves", batch=500, widths=(784, 400, 200, 100, 50, 25, 6, 25, 50, 100, 200, 400, 784)
    ),
    "mnist": Problem(data="mnist", batch=500, widths=(784, 400, 200, 100, 30, 100, 200, 400, 784)),
    "cifar10": Problem(data="cifar10", batch=500, channels=(16, 32, 32)),
    "cifar10-200": Problem(data="cifar10", batch=200, channels=(16, 32, 32)),
}
SMALL = {
    "curves": Problem(data="digits", batch=100, widths=(64, 30, 20, 6, 20, 30, 64)),
    "mnist": Problem(data="digits", batch=100, widths=(64, 30, 10, 30, 64)),
    "cifar10": Problem(data="digits", batch=100, channels=(4, 8)),
    "cifar10-200": Problem(data="digits", batch=40, channels=(4, 8)),
}
"""What stands in for each to show that everything works: small networks for digits, which need no file."""


def written(problem: Problem, file: Path, data_folder: Path | None) -> str:
    """Write a problem, and return where its data are from. Raises DataAbsent, with what to do."""
    from torch import Generator

    from benchmarks.optimizers.by_torch import network
    from worker.datasets import load
    from worker.training.initialisation import initialisation

    data = load(problem.data, folder=data_folder, validation=False)
    layers = problem.layers(data.shape)
    model = network(layers)
    initialisation("he" if problem.channels else "sparse")(model, Generator().manual_seed(SEED))
    weights = [parameter.detach().numpy() for parameter in model.parameters()]
    arrays = {"train_inputs": data.train.inputs, "test_inputs": data.test.inputs}
    if problem.channels:
        arrays |= {"train_targets": data.train.targets, "test_targets": data.test.targets}
        arrays |= _standardised(arrays, data.shape)
    np.savez(
        file,
        layers=json.dumps(layers),
        batch=problem.batch,
        **{name: array.numpy() for name, array in arrays.items()},
        **{f"weights_{number}": each for number, each in enumerate(weights)},
    )
    return data.provenance


@dataclass(frozen=True, kw_only=True)
class Read:
    """A problem as it was written. Of autoencoders the targets are the inputs."""

    layers: list[Layer]
    weights: list[np.ndarray]
    batch: int
    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]

    @property
    def classifies(self) -> bool:
        """Whether the loss is that of classes, and not that of pixels between 0 and 1."""
        return self.train[0] is not self.train[1]

    @property
    def plateau(self) -> float:
        """The loss of the best outputs that do not look at the inputs: deep networks may stay there."""
        targets = self.train[1]
        if self.classifies:
            shares = np.bincount(targets) / len(targets)
            return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
        mean = targets.mean(axis=0, dtype=np.float64).clip(1e-12, 1 - 1e-12)
        return float(-(mean * np.log(mean) + (1 - mean) * np.log1p(-mean)).sum())

    def batches(self) -> Iterator[np.ndarray]:
        """Yield the cases of each batch, without end, the same for everybody."""
        count, stream = len(self.train[0]), np.random.default_rng(SEED)
        while True:
            yield from stream.permutation(count)[: count // self.batch * self.batch].reshape(-1, self.batch)


def read(file: Path) -> Read:
    """Return what was written."""
    with np.load(file) as kept:
        arrays = {name: kept[name] for name in kept.files}
    parts = {
        part: (arrays[f"{part}_inputs"], arrays.get(f"{part}_targets", arrays[f"{part}_inputs"]))
        for part in ("train", "test")
    }
    count = sum(name.startswith("weights_") for name in arrays)
    return Read(
        layers=json.loads(str(arrays["layers"])),
        weights=[arrays[f"weights_{number}"] for number in range(count)],
        batch=int(arrays["batch"]),
        **parts,
    )


def _autoencoder(widths: tuple[int, ...]) -> list[Layer]:
    linear = {len(widths) // 2, len(widths) - 1}  # the code and the logits
    layers: list[Layer] = []
    for number, pair in enumerate(itertools.pairwise(widths), start=1):
        layers += [["linear", *pair]] if number in linear else [["linear", *pair], ["sigmoid"]]
    return layers


def _convolutions(channels: tuple[int, ...], shape: tuple[int, ...]) -> list[Layer]:
    before, *sides = shape
    layers: list[Layer] = [["image", *shape]]
    for after in channels:
        layers += [["convolution", before, after], ["rectifier"], ["pooling"]]
        before, sides = after, [side // 2 for side in sides]
    return [*layers, ["flat"], ["linear", before * math.prod(sides), 10]]


def _standardised(arrays: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Return inputs with mean 0 and variance 1 in each channel."""
    channels = arrays["train_inputs"].view(-1, shape[0], math.prod(shape[1:]))
    mean, deviation = channels.mean(dim=(0, 2)), channels.std(dim=(0, 2))
    return {
        name: ((arrays[name].view(-1, *channels.shape[1:]) - mean[:, None]) / deviation[:, None]).flatten(1)
        for name in ("train_inputs", "test_inputs")
    }
