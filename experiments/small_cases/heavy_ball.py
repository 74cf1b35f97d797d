"""Momentum against plain descent on quadratics of known condition."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

import torch
from torch import Tensor, nn
from torch.optim import SGD

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers.solvers.cg import conjugate_gradients

CONDITIONS: Final = {"small": (1e2, 1e4), "full": (1e2, 1e3, 1e4, 1e5)}
DIMENSIONS: Final = 20
REDUCTION: Final = 1e-4  # of the distance
MOMENTS: Final = {
    "descent": 3,
    "heavy ball": 40,
}  # times κ, or its root: from here to twice that rates are measured


def curvatures(condition: float) -> Tensor:
    """Return eigenvalues from 1 to the condition, evenly on a logarithmic scale."""
    return torch.logspace(0, math.log10(condition), DIMENSIONS, dtype=torch.float64)


def settings(condition: float) -> dict[str, dict[str, float]]:
    """Return the settings of each method, and what they leave of the distance in each step."""
    root = math.sqrt(condition)
    best = (root - 1) / (root + 1)
    return {
        "descent, 1/L": {"lr": 1 / condition, "momentum": 0.0, "rate": 1 - 1 / condition},
        "descent, best": {
            "lr": 2 / (1 + condition),
            "momentum": 0.0,
            "rate": (condition - 1) / (condition + 1),
        },
        "heavy ball, 1/L": {"lr": 1 / condition, "momentum": (1 - 1 / root) ** 2, "rate": 1 - 1 / root},
        "heavy ball, best": {"lr": 4 / (1 + root) ** 2, "momentum": best**2, "rate": best},
    }


def distances(values: Tensor, lr: float, momentum: float) -> Iterator[float]:
    """Yield the distance to the minimum, before any step of torch's SGD from ones and after each."""
    point = nn.Parameter(torch.ones_like(values))
    optimizer = SGD([point], lr=lr, momentum=momentum)
    while True:
        yield float(point.detach().norm())
        point.grad = values * point.detach()
        optimizer.step()


def course(condition: float, name: str) -> tuple[int, float]:
    """Return the steps to a ten-thousandth of the distance, and 1 minus the measured rate."""
    chosen, method = settings(condition)[name], name.partition(",")[0]
    half = round(MOMENTS[method] * (condition if method == "descent" else math.sqrt(condition)))
    lengths: list[float] = []
    for length in distances(curvatures(condition), chosen["lr"], chosen["momentum"]):
        lengths.append(length)
        if length <= REDUCTION * lengths[0] and len(lengths) > 2 * half:
            break
    needed = next(number for number, length in enumerate(lengths) if length <= REDUCTION * lengths[0])
    return needed, -math.expm1(math.log(lengths[2 * half] / lengths[half]) / half)


def conjugate(condition: float) -> int:
    """Return how many steps conjugate gradients need to a ten-thousandth of the distance."""
    values = curvatures(condition)
    found = conjugate_gradients(
        lambda v: values * v,
        torch.zeros_like(values),
        start=torch.ones_like(values),
        progress=0.0,
        keep=lambda _: True,
    ).iterates
    first = float(found[0].norm())
    return next(number for number in sorted(found) if float(found[number].norm()) <= REDUCTION * first)


def run(size: Size) -> Result:
    conditions = CONDITIONS[size]
    found = {(c, name): course(c, name) for c in conditions for name in settings(c)}
    off = {
        (c, name): abs(slowness / (1 - settings(c)[name]["rate"]) - 1)
        for (c, name), (_, slowness) in found.items()
    }
    gains = [found[c, "descent, 1/L"][0] / found[c, "heavy ball, 1/L"][0] for c in conditions]
    exponent = math.log(gains[-1] / gains[0]) / math.log(conditions[-1] / conditions[0])
    linear = [conjugate(c) for c in conditions]
    balls = [found[c, "heavy ball, best"][0] for c in conditions]
    steps = {name: [found[c, name][0] for c in conditions] for name in settings(1e2)}
    steps["conjugate gradients"] = linear
    worst, worst_plain = max(off.values()), max(v for (_, n), v in off.items() if n.startswith("descent"))
    return Result(
        claims=[
            Claim(
                says="Descent leaves about 1 - 1/κ of the distance in each step, momentum 1 - 1/√κ.",
                holds=worst < 0.05,
                told=f"1 minus the measured rate is that of the formula within {worst_plain:.1%} for "
                f"descent, {worst:.1%} for all",
            ),
            Claim(
                says="So descent takes √κ times as many steps, for the same reduction.",
                holds=abs(exponent - 0.5) < 0.1,
                told=", ".join(f"{g:.1f} times at κ = {c:g}" for c, g in zip(conditions, gains, strict=True))
                + f": a power {exponent:.2f} of κ",
            ),
            Claim(
                says="Linear conjugate gradients, the best of all methods of this kind, need no more steps.",
                holds=all(least <= ball for least, ball in zip(linear, balls, strict=True)),
                told=", ".join(f"{a} against {b}" for a, b in zip(linear, balls, strict=True)),
            ),
        ],
        tables=[
            Table(
                title="Steps to a ten-thousandth of the distance",
                head=["method", *(f"κ = {c:g}" for c in conditions)],
                rows=[[name, *counts] for name, counts in steps.items()],
            ),
            Table(
                title="1 minus the rate, measured over that of the formula",
                head=["method", *(f"κ = {c:g}" for c in conditions)],
                rows=[
                    [name, *(found[c, name][1] / (1 - settings(c)[name]["rate"]) for c in conditions)]
                    for name in settings(1e2)
                ],
                note="Both eigenvalues of the heavy ball's iteration are equal at an end of the spectrum, so "
                "its distance falls as k times the power: measured rates are a little below, and come nearer "
                "the longer they are measured.",
            ),
        ],
        pictures=[_picture(conditions[0])],
        seeds="none, nothing is drawn",
    )


def _picture(condition: float) -> Picture:
    steps = [*range(0, round(2 * condition) + 1, 2)]
    courses = {
        name: [*islice(distances(curvatures(condition), each["lr"], each["momentum"]), 0, steps[-1] + 1, 2)]
        for name, each in settings(condition).items()
    }
    return Picture(
        name="distance",
        says=f"The distance to the minimum at κ = {condition:g}, {DIMENSIONS} curvatures from 1 to κ.",
        panels=[
            Panel(
                x="steps",
                y="distance",
                log_y=True,
                lines=[
                    Line(name=name, x=steps, y=[value if value > 1e-14 else None for value in found])
                    for name, found in courses.items()
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    name="heavy-ball",
    title="The rates of descent and of momentum",
    rows=(203,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 3.4.1, after Polyak (1964)",
    asks="On a quadratic of condition κ, how much of the distance is left after a step of gradient descent, "
    "and of gradient descent with momentum?",
    reported="About 1 - 1/κ and 1 - 1/√κ. Since 1 - 1/√κ is below (1 - 1/κ) to the power √κ, descent takes "
    "√κ times as many steps. The bound is tight: for some quadratics even conjugate gradients, which are "
    "optimal, have that rate.",
    here={
        "small": "Torch's SGD on 20 curvatures from 1 to κ, for κ = 10² and 10⁴, at lr = 1/L with momentum "
        "(1 - 1/√κ)², for which the two formulas are exact, and at the best settings, which gain a factor of "
        "two in the exponent; float64.",
        "full": "The same for κ from 10² to 10⁵.",
    },
    run=run,
)
