"""One natural step on a small batch: what it does to that batch, and what to all others."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Final

import torch
from torch import Generator, Tensor, nn
from torch.optim import SGD

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from optimizers import CrossEntropy, TruncatedNaturalGradient
from worker.datasets import Part, load
from worker.models.perceptron import perceptron
from worker.training.batches import Batches

OBJECTIVE: Final = CrossEntropy()
BATCH: Final = 60
LARGER: Final = 8  # times as many cases for the metric
DAMPINGS: Final = (1e-3, 1e-2, 1e-1)
LEAST: Final = DAMPINGS[0]
RATE, UPDATES = 0.3, 600  # of the training beforehand, by gradients
SAME, OTHER, MANY, UNLABELED = (
    "same batch",
    "different batch",
    f"different batch, {LARGER} times as large",
    "unlabeled",
)

Changes = Mapping[str, Mapping[float, tuple[float, float]]]  # of batch and held-out, by metric and damping
Pairs = Mapping[str, Mapping[float, tuple[Sequence[float], Sequence[float]]]]


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Of how many networks and batches the means are, and how wide a network is."""

    dataset: str
    labelled: int  # cases that networks and batches see; the other training cases count as unlabeled
    hidden: int
    networks: int
    batches: int


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(dataset="digits", labelled=1200, hidden=20, networks=10, batches=10),
    "full": Setup(dataset="mnist", labelled=50_000, hidden=100, networks=20, batches=20),
}


def run(size: Size) -> Result:
    setup = SETUPS[size]
    found = pairs(setup)
    return Result(
        claims=claims(found),
        tables=[_table(found)],
        pictures=[_changes(found)],
        seeds=f"0 to {setup.networks - 1} (networks), 0 to {setup.batches - 1} (batches of each)",
        remarks=[
            (
                "A step here is a whole one (rate 1), as a method takes that trusts its model; the published "
                "trainings on few cases go a tenth of it where the damping is small."
            ),
        ],
    )


def pairs(setup: Setup) -> Pairs:
    """Return by metric and damping the changes of the loss, of the batch and of the held-out cases."""
    cases = [(setup, network) for network in range(setup.networks)]
    found = [each for of_network in spread(changes, cases) for each in of_network]
    return {
        metric: {
            damping: (
                [each[metric][damping][0] for each in found],
                [each[metric][damping][1] for each in found],
            )
            for damping in DAMPINGS
        }
        for metric in (SAME, OTHER, MANY, UNLABELED)
    }


def changes(case: tuple[Setup, int]) -> list[Changes]:
    """Return for each batch of one network what a step by each metric and damping does to both losses."""
    setup, seed = case
    data = load(setup.dataset, validation=False)
    train = Part(data.train.inputs.double(), data.train.targets)
    test = Part(data.test.inputs.double(), data.test.targets)
    model = a_network(setup, train, seed)
    found: list[Changes] = []
    for number in range(setup.batches):
        rows = drawn(setup, len(train), number)
        batch = Part(train.inputs[rows[SAME]], train.targets[rows[SAME]])
        found.append(
            {
                metric: {
                    damping: change(model, batch, test, train.inputs[taken], damping) for damping in DAMPINGS
                }
                for metric, taken in rows.items()
            }
        )
    return found


def drawn(setup: Setup, cases: int, seed: int) -> dict[str, Tensor]:
    """Return by metric the numbers of its cases; those of the same batch are the gradient's too."""
    stream = Generator().manual_seed(seed)
    rows = torch.randperm(setup.labelled, generator=stream)
    poor = setup.labelled + torch.randperm(cases - setup.labelled, generator=stream)
    return {
        SAME: rows[:BATCH],
        OTHER: rows[BATCH : 2 * BATCH],
        MANY: rows[BATCH : (1 + LARGER) * BATCH],
        UNLABELED: poor[:BATCH],
    }


def a_network(setup: Setup, train: Part, seed: int) -> nn.Module:
    """Return a network that gradient descent has trained."""
    stream = Generator().manual_seed(seed)
    sizes = [train.inputs.shape[1], setup.hidden, 10]
    model = perceptron(sizes, stream).double()
    descent, batches = SGD(model.parameters(), RATE), Batches(setup.labelled, stream)
    for _ in range(UPDATES):
        rows = batches.take(BATCH)
        descent.zero_grad()
        OBJECTIVE.loss(model(train.inputs[rows]), train.targets[rows]).backward()
        descent.step()
    return model


def change(model: nn.Module, batch: Part, test: Part, metric: Tensor, damping: float) -> tuple[float, float]:
    """Return what one natural step on a batch adds to its loss, and to that of the held-out cases."""
    moved = copy.deepcopy(model)
    TruncatedNaturalGradient(moved, OBJECTIVE, lr=1.0, damping=damping).step(
        batch.inputs, batch.targets, statistics=metric
    )
    with torch.no_grad():
        of_batch, of_test = (
            (
                OBJECTIVE.loss(moved(part.inputs), part.targets)
                - OBJECTIVE.loss(model(part.inputs), part.targets)
            ).item()
            for part in (batch, test)
        )
    return of_batch, of_test


def claims(found: Pairs) -> list[Claim]:
    """Judge what is said of a metric that sees few cases."""
    own, other = found[SAME][LEAST], found[OTHER][LEAST]
    larger, unlabeled = found[MANY][LEAST], found[UNLABELED][LEAST]
    damped = found[OTHER][DAMPINGS[-1]]
    return [
        Claim(
            says="With the metric of its own batch a step overfits it: that loss falls, the held-out rises.",
            holds=_is_above(own[1], 0) and _is_above([-each for each in own[0]], 0),
            told=f"λ = {LEAST:g}: batch {_written(own[0])}, held-out {_written(own[1])}",
        ),
        Claim(
            says="With the metric of a different batch and little damping even the loss of the batch rises.",
            holds=_is_above(other[0], 0),
            told=f"λ = {LEAST:g}: {_written(other[0])}; unlabeled inputs: {_written(unlabeled[0])}",
        ),
        Claim(
            says=f"That rise is smaller with {LARGER} times as many cases in the metric.",
            holds=_is_above([a - b for a, b in zip(other[0], larger[0], strict=True)], 0),
            told=f"{mean(larger[0]):.2f} in place of {mean(other[0]):.2f}",
        ),
        Claim(
            says="With enough damping the loss of the batch falls by the other metric too.",
            holds=_is_above([-each for each in damped[0]], 0),
            told=f"λ = {DAMPINGS[-1]:g}: batch {_written(damped[0])}, held-out {_written(damped[1])}",
        ),
    ]


def _is_above(values: Sequence[float], limit: float) -> bool:
    """Return whether the mean is above a limit by more than two standard errors."""
    return mean(values) - 2 * _error(values) > limit


def _error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values))


def _written(values: Sequence[float]) -> str:
    return f"{mean(values):+.4f} ± {_error(values):.4f}"


def _table(found: Pairs) -> Table:
    rows: list[list[Cell]] = [
        [f"{metric}, λ = {damping:g}", mean(batch), _error(batch), mean(test), _error(test)]
        for metric, dampings in found.items()
        for damping, (batch, test) in dampings.items()
    ]
    return Table(
        title="What one step adds to the loss",
        head=["metric", "of the batch", "standard error", "of held-out cases", "standard error "],
        rows=rows,
    )


def _changes(found: Pairs) -> Picture:
    return Picture(
        name="changes",
        says="What one whole step adds to the loss, against the damping. The line at 0 parts harm from use.",
        panels=[
            Panel(
                title=f"loss of {of}",
                x="damping λ",
                y="change, as its signed cube root",
                log_x=True,
                lines=[
                    *(
                        Line(name=metric, x=DAMPINGS, y=[_root(mean(pair[at])) for pair in dampings.values()])
                        for metric, dampings in found.items()
                    ),
                    Line(name="", x=DAMPINGS, y=[0.0] * len(DAMPINGS)),
                ],
            )
            for at, of in enumerate(("the batch", "held-out cases"))
        ],
    )


def _root(value: float) -> float:
    return float(abs(value) ** (1 / 3) * (1 if value > 0 else -1))


EXPERIMENT: Final = Experiment(
    name="own-batch",
    title="One natural step, and the batch that its metric has seen",
    rows=[198],
    source="R. Pascanu and Y. Bengio, *Revisiting Natural Gradient for Deep Networks* (2014), section 5; "
    "J. Martens, *Second-order Optimization for Neural Networks* (2016), section 4.10.1",
    asks="A metric estimated from little data does not see what a step does to other cases. What does one "
    "step do to its own batch and to others, when the metric is of that batch, of another one, of more?",
    reported="That natural gradient, as most methods of second order, has a tendency to overfit its "
    "mini-batch when metric and gradient are of the same one, and that another one for the metric helps "
    "(Pascanu and Bengio). That, where the batches differ, the quadratic model has no bound in directions "
    "that the batch of the metric does not see (Martens). There are no numbers.",
    here={
        "small": "Networks 64-20-10 that 600 updates of gradient descent have trained on 1,200 digits; 60 "
        "cases for the gradient; then one step, of rate 1 and 20 products, by four metrics and three "
        "dampings. Means over ten networks and ten batches of each; held-out are 297 digits. Double "
        "precision.",
        "full": "The same with networks 784-100-10 on 50,000 cases of MNIST, 20 networks and 20 batches.",
    },
    run=run,
)
