"""A straight step along the natural gradient, and the path that turns with it."""

from typing import Final

import torch
from torch import Tensor, nn

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers import Bernoulli, NaturalGradient

LENGTHS: Final = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 0.6, 1.0)
PIECES: Final = {"small": 50, "full": 2000}  # of the path
POINTS: Final = 25
INPUTS: Final = torch.tensor([[-1.0], [0.5], [2.0]], dtype=torch.float64)
TARGETS: Final = torch.tensor([[0.1], [0.6], [0.9]], dtype=torch.float64)
START: Final = (-1.5, 1.0)  # (w, b), sure of what is wrong
REMARK: Final = (
    "One small model, to show what is meant. Here shorter straight steps lead lower than the path of their "
    "length, as the table shows: it is the full length that goes too far."
)


def unit() -> nn.Linear:
    """Return x -> w x + b, log-odds."""
    model = nn.Linear(1, 1).double()
    with torch.no_grad():
        model.weight.fill_(START[0])
        model.bias.fill_(START[1])
    return model


def stepped(lr: float, updates: int = 1) -> tuple[nn.Linear, list[tuple[float, float]]]:
    """Return the unit after undamped natural steps of this rate, and all places (w, b) it was at."""
    model = unit()
    optimizer = NaturalGradient(model, Bernoulli(), lr=lr, damping=0.0)
    places = [START]
    for _ in range(updates):
        optimizer.step(INPUTS, TARGETS)
        places.append((model.weight.item(), model.bias.item()))
    return model, places


@torch.no_grad()
def divergence(model: nn.Linear) -> float:
    """Return KL of the first predictions from those of the model, the mean over the cases."""
    before, after = unit()(INPUTS), model(INPUTS)
    shares = torch.sigmoid(before)
    difference = Bernoulli().loss(after, shares) - Bernoulli().loss(before, shares)
    return difference.item()


@torch.no_grad()
def loss(model: nn.Linear) -> float:
    return Bernoulli().loss(model(INPUTS), TARGETS).item()


def foreseen(lr: float) -> float:
    """Return ½ α² ∇̃hᵀ F ∇̃h, which the divergence is to second order."""
    step = NaturalGradient(unit(), Bernoulli(), lr=1.0, damping=0.0).step(INPUTS, TARGETS)
    squared = -2 * (step.model_change or 0.0)  # M falls by half of ∇hᵀ F⁻¹ ∇h
    return lr**2 * squared / 2


def run(size: Size) -> Result:
    pieces = PIECES[size]
    ratios = [divergence(stepped(lr)[0]) / foreseen(lr) for lr in LENGTHS]
    straight, path = stepped(1.0)[0], stepped(1 / pieces, pieces)[0]
    first, lowest = loss(unit()), loss(stepped(0.5, 60)[0])
    return Result(
        claims=[
            Claim(
                says="A short step changes the predictions by a divergence of ½ α² times the square of the "
                "natural gradient under F.",
                holds=abs(ratios[0] - 1) < 0.01,
                told=f"at α = {LENGTHS[0]:g} it is {ratios[0]:.4f} of that",
            ),
            Claim(
                says="A step of full length does not: it veers away from where the natural gradient pointed.",
                holds=abs(ratios[-1] - 1) > 0.2,
                told=f"at α = 1 it is {ratios[-1]:.2f} of that",
            ),
            Claim(
                says="Following the natural gradient as it turns leads lower than the straight step of that "
                "length.",
                holds=loss(path) < loss(straight),
                told=f"from {first:.3f}, straight to {loss(straight):.3f}, along the path to "
                f"{loss(path):.3f}; the minimum is {lowest:.3f}",
            ),
        ],
        tables=[
            Table(
                title="Divergence after a straight step, over ½ α² times the square",
                head=["α", "ratio", "loss, straight", "loss, along the path"],
                rows=[
                    [f"{lr:g}", ratio, loss(stepped(lr)[0]), loss(stepped(lr / pieces, pieces)[0])]
                    for lr, ratio in zip(LENGTHS, ratios, strict=True)
                ],
            )
        ],
        pictures=[_picture(pieces)],
        seeds="none, nothing is drawn",
        remarks=[REMARK],
    )


def _picture(pieces: int) -> Picture:
    _, way = stepped(1 / pieces, pieces)
    straight = [START, stepped(1.0)[1][-1]]
    lengths = [k / POINTS for k in range(POINTS + 1)]
    on_line = [stepped(each)[0] for each in lengths]
    on_path = [_unit_at(way[round(each * pieces)]) for each in lengths]
    return Picture(
        name="paths",
        says="The straight step and the path, in the space of the two parameters and in that of two "
        "predictions, and the loss along both.",
        columns=3,
        panels=[
            Panel(
                title="parameters",
                x="w",
                y="b",
                lines=[
                    Line(name="straight step", x=[w for w, _ in straight], y=[b for _, b in straight]),
                    Line(name="path", x=[w for w, _ in way], y=[b for _, b in way]),
                ],
            ),
            Panel(
                title="predictions",
                x="of the first case",
                y="of the last case",
                lines=[
                    Line(name=name, x=[p[0] for p in shares], y=[p[-1] for p in shares])
                    for name, shares in (
                        ("straight step", [_predictions(model) for model in on_line]),
                        ("path", [_predictions(model) for model in on_path]),
                    )
                ],
            ),
            Panel(
                title="loss",
                x="α",
                y="loss",
                lines=[
                    Line(name="straight step", x=lengths, y=[loss(model) for model in on_line]),
                    Line(name="path", x=lengths, y=[loss(model) for model in on_path]),
                ],
            ),
        ],
    )


def _unit_at(place: tuple[float, float]) -> nn.Linear:
    model = unit()
    with torch.no_grad():
        model.weight.fill_(place[0])
        model.bias.fill_(place[1])
    return model


@torch.no_grad()
def _predictions(model: nn.Linear) -> list[float]:
    shares: Tensor = torch.sigmoid(model(INPUTS))
    return [float(share) for share in shares[:, 0]]


EXPERIMENT: Final = Experiment(
    name="straight-steps",
    title="A straight step and the path of the natural gradient",
    rows=(205,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 5.5, figure 5.1",
    asks="The natural gradient is the steepest direction in the space of predictions, at one point. What "
    "becomes of a step that goes on straight in the space of parameters?",
    reported="It is not straight in the space of predictions and may veer far from where it pointed; damping "
    "is needed before steps of full length are safe. A drawing, without numbers.",
    here={
        "small": "A logistic unit with two parameters that is sure of the wrong answer, three cases, "
        "undamped `NaturalGradient`; the path is 50 steps of a fiftieth of the length each; float64.",
        "full": "The same with a path of 2,000 steps.",
    },
    run=run,
)
