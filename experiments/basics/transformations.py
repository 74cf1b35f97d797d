"""What centred activities and slopes with a skip connection do to the Hessian of a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import median
from typing import Final

import torch
from torch import Tensor, nn
from torch.optim import SGD

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from optimizers import CrossEntropy, TransformedLayer
from optimizers.curvature.dense import gradients_by_case, hessian
from optimizers.curvature.network import Network
from worker.datasets import Part, load
from worker.datasets.mnist import scaled_down
from worker.training.batches import Batches
from worker.training.initialisation import glorot
from worker.training.streams import Streams

OBJECTIVE: Final = CrossEntropy()
RATE, BATCH, EVERY = 0.1, 50, 20  # updates between two transformations
DAMPINGS: Final = (0.3, 1.0, 3.0)  # μ
PLAIN, TRANSFORMED = "plain", "transformed"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The network, the data, and when its Hessian is looked at."""

    dataset: str
    side: int  # pixels to which images are scaled down
    hidden: int
    cases: int  # that the Hessian is of
    moments: Sequence[int]  # updates
    seeds: int


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The Hessian of one network at one moment."""

    angles: Sequence[float]  # in degrees, between gradient and damped Newton step, for each damping
    eigenvalues: Sequence[float]  # their sizes, the largest first
    loss: float


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(dataset="digits", side=4, hidden=12, cases=400, moments=(0, 50, 100, 200, 400), seeds=5),
    "full": Setup(dataset="mnist_16", side=8, hidden=26, cases=5_000, moments=(0, 500, 2000, 8000), seeds=5),
}


def run(size: Size) -> Result:
    setup = SETUPS[size]
    cases = [(setup, kind, seed) for kind in (PLAIN, TRANSFORMED) for seed in range(setup.seeds)]
    found = iter(spread(watched, cases))
    seen = {kind: [next(found) for _ in range(setup.seeds)] for kind in (PLAIN, TRANSFORMED)}
    count = setup.side**2 * (setup.hidden + 10) + setup.hidden + 10 * setup.hidden + 10
    return Result(
        claims=claims(seen),
        tables=[_table(setup, seen)],
        pictures=[_eigenvalues(setup, seen)],
        seeds=f"0 to {setup.seeds - 1}, the same weights and batches for both",
        remarks=[f"The network has {count} parameters, all of them in the Hessian."],
    )


def watched(case: tuple[Setup, str, int]) -> list[Seen]:
    """Train one network by gradient descent, and look at its Hessian at each moment."""
    setup, kind, seed = case
    train = scaled(setup)
    streams = Streams(seed)
    model = TransformedLayer(train.inputs.shape[1], setup.hidden, 10).double()
    glorot()(model, streams("weights"))
    nn.init.zeros_(model.skip.weight)
    descent, batches = SGD(model.parameters(), RATE), Batches(len(train), streams("batches"))
    first = Part(train.inputs[: setup.cases], train.targets[: setup.cases])
    seen = []
    for update in range(max(setup.moments) + 1):
        if kind == TRANSFORMED and update % EVERY == 0:
            model.transform(train.inputs)
        if update in setup.moments:
            seen.append(look(model, first))
        rows = batches.take(BATCH)
        descent.zero_grad()
        OBJECTIVE.loss(model(train.inputs[rows]), train.targets[rows]).backward()
        descent.step()
    return seen


def scaled(setup: Setup) -> Part:
    """Return the training cases as small images."""
    data = load(setup.dataset, validation=False)
    images = data.train.inputs.view(-1, *data.shape).numpy()
    inputs = torch.from_numpy(scaled_down(images, setup.side)).flatten(1).double()
    return Part(inputs, data.train.targets)


def look(model: nn.Module, part: Part) -> Seen:
    """Return what the Hessian of the loss of these cases shows."""
    network = Network(model, part.inputs)
    gradient = gradients_by_case(network, OBJECTIVE, part.targets).mean(dim=0)
    matrix = hessian(network, OBJECTIVE, part.targets)
    values = torch.linalg.eigvalsh(matrix).abs().sort(descending=True).values
    with torch.no_grad():
        loss = OBJECTIVE.loss(model(part.inputs), part.targets).item()
    return Seen(
        angles=[angle(gradient, matrix, damping) for damping in DAMPINGS],
        eigenvalues=values.tolist(),
        loss=loss,
    )


def angle(gradient: Tensor, matrix: Tensor, damping: float) -> float:
    """Return the angle in degrees between g and (H + μI)⁻¹ g; not a number where H + μI is indefinite."""
    damped = matrix + damping * torch.eye(len(gradient)).to(matrix)
    if torch.linalg.eigvalsh(damped)[0] <= 0:
        return float("nan")
    step = torch.linalg.solve(damped, gradient)
    return torch.rad2deg(torch.acos(torch.cosine_similarity(gradient, step, dim=0))).item()


def claims(seen: Mapping[str, Sequence[Sequence[Seen]]]) -> list[Claim]:
    """Judge what is said of the transformations."""
    angles = {
        damping: {kind: _median(_angles(of, at)) for kind, of in seen.items()}
        for at, damping in enumerate(DAMPINGS)
    }
    spreads = {kind: median(map(evenness, _all(of))) for kind, of in seen.items()}
    tails = {kind: median(map(small_share, _all(of))) for kind, of in seen.items()}
    return [
        Claim(
            says="With transformations the gradient is nearer to the second-order step (H + μI)⁻¹ g.",
            holds=all(of[TRANSFORMED] < of[PLAIN] for of in angles.values()),  # no number: not seen
            told="median angle in degrees, transformed and plain: "
            + ", ".join(
                f"μ = {damping:g}: {of[TRANSFORMED]:.1f} and {of[PLAIN]:.1f}"
                for damping, of in angles.items()
            ),
        ),
        Claim(
            says="Curvature is more even with transformations.",
            holds=spreads[TRANSFORMED] < spreads[PLAIN],
            told="largest eigenvalue over the median size of all, in the median of networks and moments: "
            f"{spreads[TRANSFORMED]:.3g} transformed, {spreads[PLAIN]:.3g} plain; share of eigenvalues below "
            f"a thousandth of the largest: {tails[TRANSFORMED]:.2f} and {tails[PLAIN]:.2f}",
        ),
    ]


def evenness(seen: Seen) -> float:
    """Return how many times the median eigenvalue the largest is, by size."""
    return seen.eigenvalues[0] / median(seen.eigenvalues)


def small_share(seen: Seen) -> float:
    """Return the share of eigenvalues whose size is below a thousandth of the largest."""
    return sum(each < 1e-3 * seen.eigenvalues[0] for each in seen.eigenvalues) / len(seen.eigenvalues)


def _all(of: Sequence[Sequence[Seen]]) -> list[Seen]:
    return [each for moments in of for each in moments]


def _angles(of: Sequence[Sequence[Seen]], at: int) -> list[float]:
    return [each.angles[at] for each in _all(of)]


def _median(angles: Sequence[float]) -> float:
    finite = [each for each in angles if not isnan(each)]
    return median(finite) if finite else float("nan")


def _table(setup: Setup, seen: Mapping[str, Sequence[Sequence[Seen]]]) -> Table:
    rows: list[list[Cell]] = [
        [
            f"{update}, {kind}",
            *(_median([moments[at].angles[number] for moments in of]) for number in range(len(DAMPINGS))),
            median(evenness(moments[at]) for moments in of),
            median(moments[at].loss for moments in of),
        ]
        for at, update in enumerate(setup.moments)
        for kind, of in seen.items()
    ]
    return Table(
        title="Medians over seeds",
        head=["updates", *(f"angle, μ = {damping:g}" for damping in DAMPINGS), "largest / median", "loss"],
        rows=rows,
        note="A dash: H + μI is indefinite in all of them.",
    )


def _eigenvalues(setup: Setup, seen: Mapping[str, Sequence[Sequence[Seen]]]) -> Picture:
    last = {kind: of[0][-1].eigenvalues for kind, of in seen.items()}
    return Picture(
        name="eigenvalues",
        says=f"The sizes of the Hessian's eigenvalues after {setup.moments[-1]} updates, each as a part of "
        "the largest; seed 0.",
        panels=[
            Panel(
                x="number",
                y="size, of the largest",
                log_y=True,
                lines=[
                    Line(
                        name=kind,
                        x=range(1, len(values) + 1),
                        y=[max(float(f"{each / values[0]:.3g}"), 1e-12) for each in values],
                    )
                    for kind, values in last.items()
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    name="transformations",
    title="Transformed units and the evenness of curvature",
    rows=[226],
    source="O. Winther, *Optimising feed-forward neural networks* (lectures, Deep learning summer camp, "
    "Technical University of Denmark, 2016), part 3, after T. Raiko, H. Valpola and Y. LeCun (2012) and "
    "T. Vatanen, T. Raiko, H. Valpola and Y. LeCun (2013)",
    asks="Units whose activity and slope are zero in the mean, with a skip connection that makes up for what "
    "they lose, leave the model as it is. Do they make its curvature more even, and bring the gradient "
    "nearer to a step of second order?",
    reported="In a network of 2600 parameters the eigenvalues of the Hessian are much more even with the "
    "transformations, and the angle between the gradient and the step (H + μI)⁻¹ g is smaller. The figures "
    "have no numbers in the text.",
    here={
        "small": "A `TransformedLayer` on digits scaled down to 4 x 4 pixels, twelve hidden units; gradient "
        "descent with rate 0.1 on batches of 50, transformed every 20 updates or never. The whole Hessian, "
        "of 400 cases and in double precision, at five moments of five trainings.",
        "full": "MNIST scaled down to 8 x 8 pixels and 26 hidden units, which makes about the 2600 "
        "parameters of the original; its Hessian of 5,000 cases at four moments of five trainings.",
    },
    run=run,
)
