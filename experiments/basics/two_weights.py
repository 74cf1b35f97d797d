"""Two weights in a row and one case to learn: rates, momentum, Newton, scaling, and the saddle between."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers import Newton, squared_error
from optimizers.curvature.dense import gradients_by_case, hessian
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat
from worker.models.layers import linear

Point = tuple[float, float]

OBJECTIVE: Final = squared_error()
DECAY: Final = 0.08  # 0.04 ‖w‖² is half of it times ‖w‖²
INPUT: Final = torch.ones(1, 1, dtype=torch.float64)
TARGET: Final = torch.full((1, 1), 1.5, dtype=torch.float64)
START: Final[Point] = (1.1, 1.3)
SHOWN: Final[Point] = (1.6, 0.6)  # where the paths of the figure begin
LEAST: Final = 0.1184  # C at both minima, where w² = 1.46
CURVATURES: Final = (0.16, 5.84)  # eigenvalues of the Hessian there
NEAR: Final = 1e-8  # of the least
NOISE: Final = 0.3  # standard deviation
RUNS: Final = 30
AWAY: Final = 0.1  # where a walk along the line of the saddle begins


def run(size: Size) -> Result:
    del size  # the original is small
    points = critical_points()
    counted = {name: steps_needed(method) for name, method in METHODS.items()}
    return Result(
        claims=[
            *_landscape_claims(points),
            *_rate_claims(counted),
            *_newton_claims(counted),
            *_scaling_claims(),
            *_saddle_claims(points),
        ],
        tables=[
            Table(
                title="Critical points",
                head=["(w₁, w₂)", "C", "least eigenvalue", "largest eigenvalue"],
                rows=[[name, *found] for name, found in points.items()],
            ),
            Table(
                title=f"Steps from {START} until C is within {NEAR:g} of the least",
                head=["method", "steps"],
                rows=[[name, count] for name, count in counted.items()],
                note="A dash: not within 400 steps.",
            ),
        ],
        pictures=[_paths()],
        seeds="0 to 29 (noise)",
        remarks=[
            (
                "Rate and momentum of the heavy ball are those that are best at the minimum, by the two "
                "eigenvalues there. Farther away they promise nothing."
            ),
            (
                "Noise that comes by the targets alone, as that of mini-batches does, moves both weights of "
                "the line w₁ = -w₂ by opposite amounts and never leaves it: a network this symmetric needs "
                "noise that strikes each weight by itself."
            ),
            "That saddle points outnumber minima in many dimensions is not to be seen with two.",
        ],
    )


def a_network(start: Point) -> nn.Sequential:
    """Return y = w₂ w₁ x."""
    model = nn.Sequential(linear(1, 1, bias=False), linear(1, 1, bias=False)).double()
    nn.utils.vector_to_parameters(torch.tensor(start, dtype=torch.float64), model.parameters())
    return model


def place(model: nn.Module) -> Point:
    """Return both weights."""
    first, second = nn.utils.parameters_to_vector(model.parameters()).tolist()
    return first, second


def cost(point: Point) -> float:
    """Return C = (w₁ w₂ - 1.5)² + 0.04 (w₁² + w₂²)."""
    first, second = point
    product, squares = first * second - 1.5, first * first + second * second
    return product * product + DECAY / 2 * squares


def gradient(point: Point, *, decay: float = DECAY) -> Tensor:
    """Return the gradient of C."""
    network = Network(a_network(point), INPUT)
    return gradients_by_case(network, OBJECTIVE, TARGET)[0] + decay * flat(network.params)


def curvature(point: Point) -> Tensor:
    """Return the Hessian of C."""
    network = Network(a_network(point), INPUT)
    return hessian(network, OBJECTIVE, TARGET) + DECAY * torch.eye(2, dtype=torch.float64)


class Momentum:
    """Gradient descent of torch, with momentum, on C; with noise, of each entry of the gradient."""

    def __init__(
        self, model: nn.Module, lr: float, momentum: float = 0.0, *, noise: float = 0.0, seed: int = 0
    ) -> None:
        self._model, self._noise = model, noise
        self._stream = Generator().manual_seed(seed)
        self._sgd = torch.optim.SGD(model.parameters(), lr, momentum=momentum, weight_decay=DECAY)

    def step(self, inputs: Tensor, targets: Tensor) -> None:
        self._sgd.zero_grad()
        OBJECTIVE.loss(self._model(inputs), targets).backward()
        if self._noise:
            for each in self._model.parameters():
                added = torch.randn(each.shape, generator=self._stream, dtype=each.dtype)
                each.grad = each.grad + self._noise * added if each.grad is not None else None
        self._sgd.step()


def heavy_ball() -> tuple[float, float]:
    """Return the rate and the momentum that are best where the curvatures are these two."""
    low, high = (value**0.5 for value in CURVATURES)
    return 4 / (low + high) ** 2, ((high - low) / (high + low)) ** 2


ABSOLUTE: Final = "Newton's method, absolute eigenvalues"
Method = Callable[[nn.Module], Any]  # something with `step(inputs, targets)`
METHODS: Final[Mapping[str, Method]] = {
    "gradient descent, rate 0.25": lambda model: Momentum(model, 0.25),
    "gradient descent, rate 0.35": lambda model: Momentum(model, 0.35),
    "Newton's method": lambda model: Newton(model, OBJECTIVE, lr=1.0, damping=1e-12, l2=DECAY),
    ABSOLUTE: lambda model: Newton(model, OBJECTIVE, lr=1.0, damping=1e-12, l2=DECAY, negative="absolute"),
    "momentum, best for the minimum": lambda model: Momentum(model, *heavy_ball()),
    "momentum 0.9, rate 0.05": lambda model: Momentum(model, 0.05, 0.9),
}


def path(method: Method, start: Point, steps: int, *, scatter: float = 0.0, seed: int = 0) -> Iterator[Point]:
    """Yield the points that a method visits; targets may scatter, so that each step sees another."""
    model, stream = a_network(start), Generator().manual_seed(seed)
    optimizer = method(model)
    yield start
    for _ in range(steps):
        targets = TARGET + scatter * torch.randn(1, 1, generator=stream, dtype=torch.float64)
        optimizer.step(INPUT, targets)
        yield place(model)


def steps_needed(method: Method, start: Point = START, most: int = 400) -> int | None:
    """Return after how many steps C is near the least, None when it is not so after the most."""
    visited = enumerate(path(method, start, most))
    return next((number for number, point in visited if cost(point) - LEAST <= NEAR), None)


def critical_points() -> dict[str, tuple[float, float, float]]:
    """Return by place the cost and both eigenvalues of the Hessian."""
    root = 1.46**0.5
    places: dict[str, Point] = {
        "(1.2083, 1.2083)": (root, root),
        "(-1.2083, -1.2083)": (-root, -root),
        "(0, 0)": (0.0, 0.0),
    }
    return {name: (cost(at), *torch.linalg.eigvalsh(curvature(at)).tolist()) for name, at in places.items()}


def without_noise() -> list[float]:
    """Return how far from the saddle gradient descent on its line is, step by step."""
    visited = path(METHODS["gradient descent, rate 0.25"], (AWAY, -AWAY), 200)
    return [max(abs(first), abs(second)) for first, second in visited]


def noisy(seed: int, lr: float, momentum: float = 0.0) -> Method:
    """Return gradient descent that adds noise of this seed to each entry of the gradient."""
    return lambda model: Momentum(model, lr, momentum, noise=NOISE, seed=seed)


def is_in_a_valley(points: Sequence[Point]) -> bool:
    """Return whether the mean output over the second half of a path is above 1: 0 is at the saddle."""
    late = points[len(points) // 2 :]
    return sum(first * second for first, second in late) / len(late) > 1


def escapes(*, by_targets: bool) -> int:
    """Return in how many noisy runs gradient descent leaves the line that leads to the saddle."""
    line, plain = (AWAY, -AWAY), METHODS["gradient descent, rate 0.25"]
    return sum(
        is_in_a_valley([*path(plain, line, 100, scatter=NOISE, seed=seed)])
        if by_targets
        else is_in_a_valley([*path(noisy(seed, 0.25), line, 100)])
        for seed in range(RUNS)
    )


def _landscape_claims(points: Mapping[str, tuple[float, float, float]]) -> list[Claim]:
    size = max(gradient(at).abs().max().item() for at in [(1.46**0.5,) * 2, (-(1.46**0.5),) * 2, (0.0, 0.0)])
    minimum, other, saddle = points.values()
    return [
        Claim(
            says="C has minima at w₁ = w₂ = ±√1.46 with C = 0.1184 and eigenvalues 0.16 and 5.84.",
            holds=size < 1e-12 and _are(minimum, (LEAST, *CURVATURES)) and _are(other, (LEAST, *CURVATURES)),
            told=f"gradient at most {size:.1g}; eigenvalues {minimum[1]:.4f}, {minimum[2]:.4f}",
        ),
        Claim(
            says="At 0 there is a saddle: the Hessian has eigenvalues of both signs, -2.92 and 3.08.",
            holds=_are(saddle, (2.25, -2.92, 3.08)),
            told=f"eigenvalues {saddle[1]:.4f}, {saddle[2]:.4f}",
        ),
    ]


def _are(found: Sequence[float], wanted: Sequence[float]) -> bool:
    return all(abs(a - b) < 1e-10 for a, b in zip(found, wanted, strict=True))


def _rate_claims(counted: Mapping[str, int | None]) -> list[Claim]:
    slow = [*path(METHODS["gradient descent, rate 0.25"], START, 120)]
    apart = [abs(first - second) for first, second in slow]
    sums = [abs((first + second) / 2 - 1.46**0.5) for first, second in slow]
    factor = apart[-1] / apart[-2]
    wild = [*path(METHODS["gradient descent, rate 0.35"], START, 400)]
    left = cost(wild[-1])
    swings = [sum(point) > 2 * 1.46**0.5 for point in wild]
    turns = sum(a != b for a, b in pairwise(swings[:51]))
    ball, descent = counted["momentum, best for the minimum"], counted["gradient descent, rate 0.25"]
    return [
        Claim(
            says="Gradient descent with rate 0.25 converges, slowly.",
            holds=abs(factor - 0.96) < 1e-4 and sums[-1] < 1e-4,
            told=f"along the flat direction by {factor:.4f} each step (1 - 0.25 · 0.16); {descent} steps",
        ),
        Claim(
            says="With rate 0.35 it oscillates: the critical rate is 2 / 5.84 = 0.3425.",
            holds=turns > 40 and left - LEAST > 0.01,
            told=f"across the valley {turns} times in 50 steps; C is {left:.3f} after 400",
        ),
        Claim(
            says="Momentum is faster.",
            holds=ball is not None and descent is not None and ball < descent / 4,
            told=f"{ball} steps with rate {heavy_ball()[0]:.4f} and momentum {heavy_ball()[1]:.4f}, "
            f"{descent} of gradient descent; with rate 0.05 and momentum 0.9 "
            f"{counted['momentum 0.9, rate 0.05']}",
        ),
        _noisy_claim(),
    ]


def _noisy_claim() -> Claim:
    """Judge whether noise in the gradient leaves momentum near the minimum."""
    ways = [[*path(noisy(seed, 0.05, 0.9), START, 100)] for seed in range(RUNS)]
    found = sum(map(is_in_a_valley, ways))
    middle = median(cost(way[-1]) for way in ways)
    return Claim(
        says="Momentum finds the valley with noisy gradients too.",
        holds=found == RUNS,
        told=f"noise of deviation {NOISE} in each entry, rate 0.05, momentum 0.9: {found} of {RUNS} runs; "
        f"C after 100 steps is {middle:.3f} in the median",
    )


def _newton_claims(counted: Mapping[str, int | None]) -> list[Claim]:
    steps, descent = counted["Newton's method"], counted["gradient descent, rate 0.25"]
    at = (0.2, 0.4)
    slope, matrix = gradient(at), curvature(at)
    climbs = -(slope @ torch.linalg.solve(matrix, slope)).item()
    guarded = steps_needed(METHODS[ABSOLUTE], at)
    return [
        Claim(
            says="Newton's method oscillates less and needs few steps.",
            holds=steps is not None and descent is not None and steps < descent / 10,
            told=f"{steps} steps, where gradient descent takes {descent}",
        ),
        Claim(
            says="In places Newton's step points the wrong way, which can be cured.",
            holds=climbs > 0 and guarded is not None,
            told=f"at {at} the undamped step climbs with slope {climbs:.3f}; with the absolute values "
            f"of the eigenvalues it is at the minimum after {guarded} steps",
        ),
    ]


def _scaling_claims() -> list[Claim]:
    before, after = (gradient(at, decay=0.0) for at in ((0.8, 1.2), (1.6, 0.6)))
    outputs = [a_network(at)(INPUT).item() for at in ((0.8, 1.2), (1.6, 0.6))]
    first, second = (after / before).tolist()
    return [
        Claim(
            says="With w₁ doubled and w₂ halved the output is the same, and the gradient of w₂ doubled.",
            holds=outputs[0] == outputs[1] and abs(second - 2) < 1e-12,
            told=f"outputs {outputs[0]:g} and {outputs[1]:g}; gradient of w₂ times {second:.12g}",
        ),
        Claim(
            says="The gradient of w₁ is halved.",
            holds=abs(first - 0.5) < 1e-12,
            told=f"times {first:.12g}, without weight decay",
        ),
    ]


def _saddle_claims(points: Mapping[str, tuple[float, float, float]]) -> list[Claim]:
    stuck, escaped, kept = without_noise(), escapes(by_targets=False), escapes(by_targets=True)
    return [
        Claim(
            says="The signs of the eigenvalues of the Hessian tell minima and saddles apart.",
            holds=[low > 0 for _, low, _ in points.values()] == [True, True, False],
            told=", ".join(f"{name}: {low:.2f}, {high:.2f}" for name, (_, low, high) in points.items()),
        ),
        Claim(
            says="Learning stops at a critical point, a saddle too.",
            holds=stuck[-1] < 1e-12,
            told=f"from ({AWAY}, {-AWAY}) gradient descent is {stuck[-1]:.1g} from it after 200 steps",
        ),
        Claim(
            says="Noise in the gradient helps to leave a saddle.",
            holds=escaped > RUNS / 2,
            told=f"with noise of deviation {NOISE} in each entry, {escaped} of {RUNS} runs from the same "
            f"point are in the valley of a minimum within 100 steps; with targets that scatter, {kept}",
        ),
    ]


def _paths() -> Picture:
    axis = [round(each, 4) for each in torch.linspace(0.0, 2.4, 36).tolist()]
    surface = [[round(cost((first, second)) ** 0.5, 4) for first in axis] for second in axis]
    shown: dict[str, list[Point]] = {
        name: [*path(METHODS[name], SHOWN, 40)]
        for name in ("gradient descent, rate 0.25", "gradient descent, rate 0.35", "momentum 0.9, rate 0.05")
    }
    shown["Newton's method"] = [*path(METHODS["Newton's method"], SHOWN, 10)]
    shown["momentum 0.9, rate 0.05, noisy"] = [*path(noisy(0, 0.05, 0.9), SHOWN, 40)]
    return Picture(
        name="paths",
        says=f"Forty steps from {SHOWN} over the contours of √C; of Newton's method ten.",
        panels=[
            Panel(
                title=name,
                x="w₁",
                y="w₂",
                surface=surface,
                surface_x=axis,
                surface_y=axis,
                lines=[
                    Line(
                        name="",
                        x=[round(first, 5) for first, _ in way],
                        y=[round(second, 5) for _, second in way],
                    )
                ],
            )
            for name, way in shown.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    name="two-weights",
    title="Two weights in a row",
    rows=[222, 223, 227],
    source="O. Winther, *Optimising feed-forward neural networks* (lectures, Deep learning summer camp, "
    "Technical University of Denmark, 2016), parts 2 and 3",
    asks="What do the rate, momentum, Newton's method, the scale of weights, and noise near a saddle do, in "
    "the smallest network where each is to be seen?",
    reported="One case, x = 1 and y = 1.5, and `C = (w₁ w₂ - 1.5)² + 0.04 (w₁² + w₂²)`. Figures show "
    "gradient descent with rate 0.25 (too slow) and 0.35 (oscillates), Newton's method (oscillates less, "
    "points the wrong way in places), momentum, and momentum with noisy gradients. If w₁ is doubled and w₂ "
    "halved, the output stays and the gradient of w₂ doubles. Learning stops at critical points; the signs "
    "of the Hessian's eigenvalues tell which are saddles; noise helps to escape them. There are no numbers, "
    "and no starts are told.",
    here={
        "small": "The same network of two linear units, in double precision, with our `Newton` and torch's "
        "gradient descent; the constants of the landscape follow from its formula.",
        "full": "The same as at the small size: the original is no larger.",
    },
    run=run,
)
