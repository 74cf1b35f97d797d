"""The paths of four methods over the landscape of an autoencoder with one hidden unit."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers import CovarianceNaturalGradient, NaturalGradient, Newton, squared_error
from optimizers.curvature.dense import gradients_by_case, hessian
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat
from worker.models.one_unit import OneUnitAutoencoder

Point = tuple[float, float]  # weight and bias
Method = Callable[[nn.Module], Any]  # something with `step(inputs, targets)`

OBJECTIVE: Final = squared_error()
STARTS: Final[Mapping[str, Point]] = {"(-3, 2)": (-3.0, 2.0), "(2, -2)": (2.0, -2.0)}
STEPS: Final = 100
CASES: Final = 50
ALONG: Final = (0, 1, 2, 5)  # the points of the natural path whose surfaces are drawn
SEARCHED: Final = 300  # points at which lengths of steps are compared


class DampedNewton:
    """δ = -(H + I)⁻¹ ∇h as published: also where H + I has a negative eigenvalue, which `Newton` avoids."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model

    def step(self, inputs: Tensor, targets: Tensor) -> None:
        network = Network(self._model, inputs)
        gradient = gradients_by_case(network, OBJECTIVE, targets).mean(dim=0)
        damped = hessian(network, OBJECTIVE, targets) + torch.eye(len(gradient)).to(gradient)
        moved = flat(network.params) - torch.linalg.solve(damped, gradient)
        nn.utils.vector_to_parameters(moved, self._model.parameters())


class Descent:
    """Gradient descent at the rate 0.1."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._sgd = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, inputs: Tensor, targets: Tensor) -> None:
        self._sgd.zero_grad()
        OBJECTIVE.loss(self._model(inputs), targets).backward()
        self._sgd.step()


METHODS: Final[Mapping[str, Method]] = {
    "gradient descent": Descent,
    "natural gradient": lambda model: NaturalGradient(model, OBJECTIVE, lr=0.5, damping=0.01),
    "covariance of gradients": lambda model: CovarianceNaturalGradient(
        model, OBJECTIVE, lr=1.0, damping=1.0, solver="gram"
    ),
    "Newton, H + I": DampedNewton,
}
SAFE: Final = "Newton, damping raised where needed"


def run(size: Size) -> Result:
    del size  # the original is small
    inputs = cases()
    paths = {
        start: {name: path(METHODS[name], at, inputs) for name in METHODS} for start, at in STARTS.items()
    }
    safe = {
        start: path(lambda model: Newton(model, OBJECTIVE, lr=1.0, damping=1.0), at, inputs)
        for start, at in STARTS.items()
    }
    ends: list[list[Cell]] = [
        [f"{start}: {name}", *way[-1], height(way[-1], inputs)]
        for start, ways in paths.items()
        for name, way in {**ways, SAFE: safe[start]}.items()
    ]
    return Result(
        claims=claims(paths, inputs),
        tables=[
            Table(
                title=f"Where {STEPS} steps lead",
                head=["start (w, b) and method", "w", "b", "loss"],
                rows=ends,
                note="The last row of each start is not of the original: "
                "there our Newton raises the damping until H + λI is positive definite.",
            )
        ],
        pictures=[_landscape(paths, inputs), _surfaces(paths["(-3, 2)"]["natural gradient"], inputs)],
        seeds="0 (inputs), 1 (points at which lengths are compared)",
        remarks=[
            "The original does not tell its data nor the coordinates of its starts: these are ours.",
            "A basin is told by the signs of weight and bias at the end.",
        ],
    )


def cases() -> Tensor:
    """Return the inputs, uniform between 0 and 1."""
    return torch.rand(CASES, 1, generator=Generator().manual_seed(0), dtype=torch.float64)


def at_point(point: Point) -> OneUnitAutoencoder:
    """Return the network with this weight and bias."""
    model = OneUnitAutoencoder(0.0, 0.0).double()
    nn.utils.vector_to_parameters(torch.tensor(point, dtype=torch.float64), model.parameters())
    return model


def place(model: nn.Module) -> Point:
    """Return weight and bias."""
    weight, bias = nn.utils.parameters_to_vector(model.parameters()).tolist()
    return weight, bias


@torch.no_grad()
def height(point: Point, inputs: Tensor) -> float:
    """Return the loss at a point."""
    return OBJECTIVE.loss(at_point(point)(inputs), inputs).item()


def path(method: Method, start: Point, inputs: Tensor, steps: int = STEPS) -> list[Point]:
    """Return the points that a method visits."""
    model = at_point(start)
    optimizer = method(model)
    points = [start]
    for _ in range(steps):
        optimizer.step(inputs, inputs)
        points.append(place(model))
    return points


def divergence(point: Point, move: Point, inputs: Tensor) -> float:
    """Return KL(p at the point ‖ p after the move), of normal predictions with the variance ½."""
    with torch.no_grad():
        before = at_point(point)(inputs)
        after = at_point((point[0] + move[0], point[1] + move[1]))(inputs)
        return float((before - after).square().mean())


def claims(paths: Mapping[str, Mapping[str, Sequence[Point]]], inputs: Tensor) -> list[Claim]:
    """Judge what the original says of its figure."""
    ends = {
        start: {name: height(way[-1], inputs) for name, way in ways.items()} for start, ways in paths.items()
    }
    basins = {name: _basin(way[-1]) for name, way in paths["(-3, 2)"].items()}
    seen = compared(inputs)
    return [
        Claim(
            says="From both starts the natural gradient ends lowest of the four.",
            holds=all(min(of, key=of.__getitem__) == "natural gradient" for of in ends.values()),
            told="; ".join(
                f"from {start}: " + ", ".join(f"{name} {value:.4f}" for name, value in of.items())
                for start, of in ends.items()
            ),
        ),
        Claim(
            says="From (-3, 2), methods end in different basins.",
            holds=len(set(basins.values())) > 1,
            told=", ".join(f"{name} at {basin}" for name, basin in basins.items()),
        ),
        Claim(
            says="The natural direction can be quite another than that of the gradient.",
            holds=seen.turned > 0,
            told=f"they are more than 45 degrees apart at {seen.turned} of {SEARCHED} random points; "
            f"{seen.angle:.0f} degrees in the median",
        ),
        Claim(
            says="The natural step can be shorter than that of the gradient although Newton's is longer.",
            holds=seen.convex > 0,
            told=f"so at {seen.shorter} of {SEARCHED} random points, {seen.convex} of them where H + I is "
            "positive definite",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What the moves at random points of the landscape show."""

    shorter: int  # points at which the natural step is the shortest and Newton's the longest of three
    convex: int  # those of them at which H + I is positive definite
    turned: int  # points at which natural step and gradient are more than 45 degrees apart
    angle: float  # between them, in degrees: the median


def compared(inputs: Tensor, points: int = SEARCHED) -> Compared:
    """Compare the moves of the methods at random points."""
    drawn = torch.rand(points, 2, generator=Generator().manual_seed(1), dtype=torch.float64)
    shorter, convex, angles = 0, 0, []
    for point in [(w, b) for w, b in (drawn * 10 - 5).tolist()]:
        moves = {name: torch.tensor(move) for name, move in proposed(point, inputs).items()}
        gradient, natural, _, newton = moves.values()
        if natural.norm() < gradient.norm() < newton.norm():
            shorter += 1
            convex += is_convex(point, inputs)
        cosine = torch.cosine_similarity(natural, gradient, dim=0).clamp(-1, 1)
        angles.append(torch.rad2deg(torch.acos(cosine)).item())
    turned = sum(angle > 45 for angle in angles)
    return Compared(shorter=shorter, convex=convex, turned=turned, angle=median(angles))


def is_convex(point: Point, inputs: Tensor) -> bool:
    """Return whether H + I is positive definite at a point, so that Newton's step is no accident."""
    least = torch.linalg.eigvalsh(hessian(Network(at_point(point), inputs), OBJECTIVE, inputs))[0]
    return bool(least > -1)


def proposed(point: Point, inputs: Tensor) -> dict[str, Point]:
    """Return by method the move that it would make from a point."""
    moves: dict[str, Point] = {}
    for name, method in METHODS.items():
        model = copy.deepcopy(at_point(point))
        method(model).step(inputs, inputs)
        after = place(model)
        moves[name] = (after[0] - point[0], after[1] - point[1])
    return moves


def _basin(point: Point) -> str:
    return f"w {'>' if point[0] > 0 else '<'} 0, b {'>' if point[1] > 0 else '<'} 0"


def _landscape(paths: Mapping[str, Mapping[str, Sequence[Point]]], inputs: Tensor) -> Picture:
    weights, biases = torch.linspace(-5, 3, 61).tolist(), torch.linspace(-3, 3, 61).tolist()
    surface = [
        [round(float(torch.log10(torch.tensor(height((w, b), inputs)))), 3) for b in biases] for w in weights
    ]
    return Picture(
        name="paths",
        says=f"The paths of {STEPS} steps over the contours of log₁₀ of the loss.",
        panels=[
            Panel(
                title=f"from {start}",
                x="b",
                y="w",
                surface=surface,
                surface_x=[round(each, 4) for each in biases],
                surface_y=[round(each, 4) for each in weights],
                lines=[_line(name, way) for name, way in ways.items()],
            )
            for start, ways in paths.items()
        ],
    )


def _surfaces(natural: Sequence[Point], inputs: Tensor) -> Picture:
    panels = []
    for number in ALONG:
        point = natural[number]
        moves = proposed(point, inputs)
        reach = 1.2 * max(abs(each) for move in moves.values() for each in move)
        axis = [round(each, 4) for each in torch.linspace(-reach, reach, 25).tolist()]
        panels.append(
            Panel(
                title=f"after {number} steps, at w = {point[0]:.2f}, b = {point[1]:.2f}",
                x="Δb",
                y="Δw",
                surface=[[float(f"{divergence(point, (w, b), inputs):.4g}") for b in axis] for w in axis],
                surface_x=axis,
                surface_y=axis,
                lines=[_line(name, [(0.0, 0.0), move]) for name, move in moves.items()],
            )
        )
    return Picture(
        name="surfaces",
        says="The divergence KL(p ‖ p after a move) around four points of the natural path from (-3, 2), "
        "with the move that each method proposes there.",
        panels=panels,
    )


def _line(name: str, points: Sequence[Point]) -> Line:
    return Line(
        name=name,
        x=[round(bias, 5) for _, bias in points],
        y=[round(weight, 5) for weight, _ in points],
    )


EXPERIMENT: Final = Experiment(
    name="autoencoder-paths",
    title="Four paths over a landscape of two parameters",
    rows=[197],
    source="R. Pascanu and Y. Bengio, *Revisiting Natural Gradient for Deep Networks* (2014), section 4, "
    "figure 1 and section 8.4",
    asks="Do gradient descent, Newton's method, and the two methods that are called natural gradient, by the "
    "Fisher matrix and by the covariance of gradients, go different ways to different minima?",
    reported="An autoencoder with one hidden unit, error `(x - w·σ(wx + b) + b)²`, 100 steps from each of "
    "two starts. The figure shows that each method takes its own path. Two things are said of it: the "
    "natural step can be smaller than that of the gradient where Newton's is larger, and its direction can "
    "be quite another, which can lead to another minimum. Rates and damping: gradient descent 0.1; Fisher "
    "0.5 and + 0.01 I; covariance 1 and + I; Newton 1 and + I.",
    here={
        "small": "The same, with the published rates and damping, on 50 inputs drawn uniformly from [0, 1]. "
        "All matrices are those of our library, 2 x 2 and inverted exactly, in double precision.",
        "full": "The same as at the small size: the original is no larger.",
    },
    run=run,
)
