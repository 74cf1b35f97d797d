"""A rectifier network for digits, from inside: first weights epoch by epoch, and how often units are on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import SGD

from experiments.device import device_for
from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers import CrossEntropy
from worker.datasets import Dataset, Part, load
from worker.models.perceptron import perceptron
from worker.tasks.classifier import wrong_class
from worker.training.batches import Batches
from worker.training.initialisation import balanced
from worker.training.schedules import final_annealing
from worker.training.statistics import active_share, activities, dead_units, weight_images
from worker.training.streams import Streams

RATE, MOMENTUM = 0.1, 0.9
SHOWN: Final = (1, 2, 3, 4, 5, 10, 50)  # epochs
UNITS: Final = 16  # whose weights are shown
BINS: Final = 20


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The network and how long it is trained."""

    dataset: str
    hidden: Sequence[int]
    side: int  # pixels
    epochs: int
    batch_size: int
    limit: float  # of the test error


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A network after its training, and what was seen on the way."""

    model: nn.Module
    images: Mapping[int, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]  # by epoch
    errors: Mapping[int, tuple[float, float]]  # of train and test, by epoch


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(dataset="digits", hidden=(64, 32), side=8, epochs=50, batch_size=100, limit=0.04),
    "full": Setup(dataset="mnist", hidden=(225, 144), side=28, epochs=50, batch_size=100, limit=0.014),
}


def run(size: Size) -> Result:
    setup = SETUPS[size]
    data = load(setup.dataset, validation=False)
    found = trained(setup, data, size)
    answers = activities(found.model, data.test.inputs.to(device_for(size)))
    shares = {f"h{number}": active_share(each).cpu() for number, each in enumerate(answers.values(), start=1)}
    dead = sum(dead_units(each) for each in answers.values())
    return Result(
        claims=claims(setup, found, shares, dead),
        tables=[
            Table(
                title="Errors, %",
                head=["epoch", "train", "test"],
                rows=[[epoch, 100 * train, 100 * test] for epoch, (train, test) in found.errors.items()],
            ),
            _example(data, found.model, answers, size),
        ],
        pictures=[_weights(setup, found), _histogram(shares), _signal(data, answers)],
        seeds="0",
    )


def trained(setup: Setup, data: Dataset, size: Size) -> Trained:
    """Train the network by gradient descent with momentum, whose rate is annealed over the second half."""
    device, streams = device_for(size), Streams(0)
    train, test = data.train, data.test
    sizes = [setup.side**2, *setup.hidden, 10]
    model = perceptron(sizes, streams("weights"), activation="relu", initialise=balanced()).to(device)
    descent = SGD(model.parameters(), RATE, momentum=MOMENTUM)
    batches = Batches(len(train), streams("batches"))
    updates = len(train) // setup.batch_size
    rate = final_annealing(rate=RATE, updates=updates * setup.epochs)
    images, errors = {}, {}
    for epoch in range(1, setup.epochs + 1):
        for update in range(updates * (epoch - 1), updates * epoch):
            descent.param_groups[0]["lr"] = rate(update)
            rows = batches.take(setup.batch_size)
            descent.zero_grad()
            outputs = model(train.inputs[rows].to(device))
            CrossEntropy().loss(outputs, train.targets[rows].to(device)).backward()
            descent.step()
        if epoch in SHOWN or epoch == setup.epochs:
            images[epoch] = weight_images(cast("nn.Linear", model[0]), (setup.side, setup.side))[:UNITS]
            errors[epoch] = (_error(model, train, device), _error(model, test, device))
    return Trained(model=model, images=images, errors=errors)


@torch.no_grad()
def _error(model: nn.Module, part: Part, device: torch.device) -> float:
    return wrong_class(model(part.inputs.to(device)), part.targets.to(device)).mean().item()


def claims(setup: Setup, found: Trained, shares: Mapping[str, Tensor], dead: int) -> list[Claim]:
    """Judge what the slides say of their network."""
    last = max(found.errors)
    on = torch.cat([*shares.values()])
    moved = [
        float(np.abs(found.images[a].astype(int) - found.images[b].astype(int)).mean())
        for a, b in ((1, 5), (min(10, last), last))
    ]
    return [
        Claim(
            says=f"Such a network errs on few new digits: at this size below {100 * setup.limit:g} %.",
            holds=found.errors[last][1] < setup.limit,
            told=f"{100 * found.errors[last][1]:.2f} % after {last} epochs",
        ),
        Claim(
            says="Units are sparse: most are above 0 for fewer than half of the cases.",
            holds=on.median().item() < 0.5,
            told=f"above 0 in {100 * on.median().item():.0f} % of the cases in the median of {len(on)} "
            f"units, from {100 * on.min().item():.0f} to {100 * on.max().item():.0f} %",
        ),
        Claim(
            says="Sometimes units become completely dead.",
            holds=dead > 0,
            told=f"{dead} of {len(on)} units are above 0 in no test case",
        ),
        Claim(
            says="The first weights keep changing to the last epochs.",
            holds=moved[1] > 1,
            told=f"mean change of a weight's shade, of 255: {moved[0]:.1f} from epoch 1 to 5, "
            f"{moved[1]:.1f} from epoch {min(10, last)} to {last}",
        ),
    ]


def _example(data: Dataset, model: nn.Module, answers: Mapping[str, Tensor], size: Size) -> Table:
    """Return how large the signal of the first test case is on its way through the layers."""
    with torch.no_grad():
        outputs = torch.softmax(model(data.test.inputs[:1].to(device_for(size))), dim=1)[0].cpu()
    layers = {
        "x": data.test.inputs[0],
        **{f"h{at}": each[0].cpu() for at, each in enumerate(answers.values(), 1)},
    }
    rows: list[list[Cell]] = [
        [name, len(values), int((values > 0).sum()), values.max().item()]
        for name, values in {**layers, f"h{len(answers) + 1}": outputs}.items()
    ]
    return Table(
        title=f"The first test case, a {int(data.test.targets[0])}, on its way through the network",
        head=["layer", "units", "above 0", "largest"],
        rows=rows,
    )


def _sheet(images: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> list[list[int]]:
    """Return images as one, side by side in a square."""
    columns = int(len(images) ** 0.5)
    rows = [np.concatenate([*images[at : at + columns]], axis=1) for at in range(0, len(images), columns)]
    sheet: list[list[int]] = np.concatenate(rows).tolist()
    return sheet


def _weights(setup: Setup, found: Trained) -> Picture:
    return Picture(
        name="weights",
        says=f"The incoming weights of the first {UNITS} units as images of {setup.side} x {setup.side} "
        "pixels, each scaled from its least to its largest weight.",
        columns=3,
        panels=[
            Panel(title=f"after epoch {epoch}", surface=_sheet(images), is_filled=True)
            for epoch, images in found.images.items()
        ],
    )


def _histogram(shares: Mapping[str, Tensor]) -> Picture:
    panels = []
    for name, of in shares.items():
        counts, edges = np.histogram(of.numpy(), bins=BINS, range=(0, 1))
        x = [float(edge) for edge in edges for _ in (0, 1)][1:-1]
        y = [int(count) for count in counts for _ in (0, 1)]
        panels.append(
            Panel(title=name, x="part of the cases with h > 0", y="units", lines=[Line(name="", x=x, y=y)])
        )
    return Picture(name="active", says="How often units are above 0: histograms over units.", panels=panels)


def _signal(data: Dataset, answers: Mapping[str, Tensor]) -> Picture:
    shown = {
        "x": data.test.inputs[:40],
        **{f"h{at}": each[:40] for at, each in enumerate(answers.values(), 1)},
    }
    return Picture(
        name="signals",
        says="Inputs and hidden activities of the first forty test cases, a row for each case.",
        columns=3,
        panels=[
            Panel(
                title=name,
                x="unit",
                y="case",
                surface=[[float(f"{each:.3g}") for each in row] for row in values.cpu()[:, :64].tolist()],
                is_filled=True,
            )
            for name, values in shown.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    name="rectifier-network",
    title="A rectifier network from inside",
    rows=[221],
    source="O. Winther, *Optimising feed-forward neural networks* (lectures, Deep learning summer camp, "
    "Technical University of Denmark, 2016), parts 1 and 2, with slides by T. Raiko",
    asks="What does a network of rectifiers for handwritten digits look like from inside while it learns?",
    reported="A network 784-225-?-10 of rectifiers with a softmax for MNIST, batches of 100, 600 updates an "
    "epoch, 50 epochs: about 1.2 % test error. Images of the first weights after epochs 1 to 5, 10 and 50, "
    "of the signals from layer to layer, and a histogram of how often each unit is above 0; sometimes units "
    "become completely dead.",
    here={
        "small": "Digits of 8 x 8 pixels, 64-64-32-10, batches of 100, 50 epochs of gradient descent with "
        "momentum 0.9 and a rate of 0.1 that is annealed over the second half.",
        "full": "MNIST, 784-225-144-10 (the size of the second layer is not told), batches of 100, 50 "
        "epochs.",
    },
    run=run,
)
