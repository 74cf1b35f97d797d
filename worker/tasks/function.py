"""A landscape with a formula in place of a training: to try things out, and to load a server."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Final

from thiessen.space import Categorical, Config, Dimension, Float, Space
from worker.config import read, schema, setting, settings_of
from worker.tasks.task import Context, Task

Point = Sequence[float]


@dataclass(frozen=True)
class Landscape:
    """A function, where it is usually looked at, and its least value there with a place that has it."""

    value: Callable[[Point], float]
    low: float
    high: float
    least: float
    at: Callable[[int], Point]  # of the number of dimensions


def _sphere(x: Point) -> float:
    return sum(each * each for each in x)


def _cone(x: Point) -> float:
    return math.sqrt(_sphere(x))


def _rosenbrock(x: Point) -> float:
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))


def _ackley(x: Point) -> float:
    spread = math.sqrt(_sphere(x) / len(x))
    waves = sum(math.cos(2 * math.pi * each) for each in x) / len(x)
    return 20 - 20 * math.exp(-spread / 5) + math.e - math.exp(waves)


def _rastrigin(x: Point) -> float:
    return sum(10 + each * each - 10 * math.cos(2 * math.pi * each) for each in x)


def _branin(x: Point) -> float:
    """Return Branin's function of the first two numbers."""
    a, b = x[0], x[1] if len(x) > 1 else 0.0
    valley = b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6
    return valley**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


LANDSCAPES: Final[Mapping[str, Landscape]] = {
    "branin": Landscape(_branin, -5.0, 15.0, 0.39788735772973816, lambda _: (math.pi, 2.275)),
    "rosenbrock": Landscape(_rosenbrock, -5.0, 10.0, 0.0, lambda count: [1.0] * count),
    "sphere": Landscape(_sphere, -5.0, 5.0, 0.0, lambda count: [0.0] * count),
    "ackley": Landscape(_ackley, -30.0, 30.0, 0.0, lambda count: [0.0] * count),
    "rastrigin": Landscape(_rastrigin, -5.12, 5.12, 0.0, lambda count: [0.0] * count),
    "cone": Landscape(_cone, -1.0, 1.0, 0.0, lambda count: [0.0] * count),
}


@dataclass(frozen=True, kw_only=True)
class Function:
    """What a config may set, and what holds where it does not."""

    function: str = setting("branin", "Whose value is the loss.", choices=tuple(LANDSCAPES))
    dimensions: int = setting(2, "How many of x1, x2, ... count; of `branin` always two.", low=1, high=8)
    x1: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x2: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x3: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x4: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x5: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x6: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x7: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    x8: float = setting(0.0, "Coordinate.", low=-1e6, high=1e6)
    noise: float = setting(0.0, "Standard deviation of what is added, by the trial's seed.", low=0, high=1e6)
    steps: int = setting(
        1, "Points of the learning curve, which falls to the value from above.", low=1, high=100_000
    )
    seconds: float = setting(0.0, "How long it takes.", low=0, high=86_400)

    @property
    def point(self) -> Point:
        """The coordinates that count."""
        count = 2 if self.function == "branin" else self.dimensions
        return [getattr(self, f"x{number}") for number in range(1, count + 1)]


def train(config: Config, context: Context) -> float:
    """Return the value of a function at the point that a config names. Raises ValueError, Pruned."""
    chosen = read(Function, config)
    value = LANDSCAPES[chosen.function].value(chosen.point)
    value += chosen.noise * Random(context.seed).gauss()
    context.expect(chosen.steps)
    first = context.checkpoint.restore() + 1
    for step in range(first, chosen.steps + 1):
        time.sleep(chosen.seconds / chosen.steps)
        context.report(step, loss=value + math.log(chosen.steps / step))
        if context.checkpoint.is_due:
            context.checkpoint.save(step)
    return value


def _space(name: str) -> dict[str, dict[str, object]]:
    landscape = LANDSCAPES[name]
    axes: dict[str, Dimension] = {f"x{number}": Float(landscape.low, landscape.high) for number in (1, 2)}
    if name == "branin":
        axes = {"x1": Float(-5.0, 10.0), "x2": Float(0.0, 15.0)}
    return Space(function=Categorical([name]), **axes).to_json()


TASK: Final = Task(
    "function",
    train,
    description="The value of a function with a known minimum: to try things out without a training.",
    schema=schema(settings_of(Function)),
    spaces={name: _space(name) for name in LANDSCAPES},
)
