"""K-FAC beside Nesterov's method, whose rate and momentum are tuned, on deep autoencoders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Final

from experiments.experiment import Cell, Claim, Experiment, Panel, Picture, Result, Size, Table
from experiments.kfac.course import DIGITS, Course, Problem, Training, followed, kfac, nesterov, plan
from experiments.spread import spread

TRIDIAGONAL: Final = {"inverse": "block_tridiagonal"}
PLAIN: Final = {"found_momentum": False}
LARGE, BEGINS = 150.0, 1.0  # λ: as published, and where a small network can begin


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A problem, and how long each method trains on batches of which size."""

    problem: Problem
    updates: int  # of K-FAC
    first: int  # cases of its first batch
    full_at: int  # the update that sees all of them
    fixed: int  # cases of a batch of K-FAC without momentum
    baseline_updates: int
    baseline_batch: int
    rates: Sequence[float]
    momenta: Sequence[tuple[str, float]]


RISING: Final = ("rising", 0.99)
CURVES: Final = Problem(name="CURVES", dataset="curves", encoder=(784, 400, 200, 100, 50, 25, 6))
SETUPS: Final[Mapping[Size, Sequence[Setup]]] = {
    "small": (
        Setup(
            problem=DIGITS,
            updates=300,
            first=250,
            full_at=200,
            fixed=500,
            baseline_updates=4000,
            baseline_batch=100,
            rates=(0.02, 0.05, 0.1, 0.2),
            momenta=(RISING, ("constant", 0.95)),
        ),
        Setup(
            problem=Problem(name="CURVES 14x14", dataset="curves_14", encoder=(196, 100, 50, 25, 6)),
            updates=150,
            first=250,
            full_at=100,
            fixed=500,
            baseline_updates=2000,
            baseline_batch=250,
            rates=(0.01, 0.03, 0.1),
            momenta=(RISING, ("constant", 0.95)),
        ),
    ),
    "full": tuple(
        Setup(
            problem=problem,
            updates=1000,
            first=1000,
            full_at=500,
            fixed=4000,
            baseline_updates=50_000,
            baseline_batch=batch,
            rates=(0.0005, 0.001, 0.005, 0.01, 0.05),
            momenta=tuple(("rising", limit) for limit in (0.9, 0.99, 0.995, 0.999)),
        )
        for problem, batch in (
            (CURVES, 250),
            (Problem(name="MNIST", dataset="mnist", encoder=(784, 1000, 500, 250, 30)), 500),
            (
                Problem(
                    name="FACES", dataset="faces", encoder=(625, 2000, 1000, 500, 30), loss="squared"
                ),
                500,
            ),
        )
    ),
}


def run(size: Size) -> Result:
    return judged([compared(setup) for setup in SETUPS[size]])


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What came of one problem."""

    setup: Setup
    ours: Mapping[str, Course]
    tuned: Sequence[Course]  # of the baseline, all that were tried

    @property
    def best(self) -> Course:
        """The baseline as tuned."""
        return min(self.tuned, key=lambda course: course.final)


def compared(setup: Setup) -> Compared:
    """Train by all methods from the same weights."""
    ours, tuned = trainings(setup), baselines(setup)
    courses = spread(followed, [*ours.values(), *tuned])
    return Compared(
        setup=setup, ours=dict(zip(ours, courses, strict=False)), tuned=courses[len(ours) :]
    )


def trainings(setup: Setup) -> Mapping[str, Training]:
    """Return those by K-FAC."""
    grows = plan(setup.updates, setup.first, full_at=setup.full_at)
    begins = {"damping": BEGINS}

    def by(name: str, settings: Mapping[str, Any], chosen: Any = grows) -> Training:
        return Training(
            name=f"K-FAC, {name}",
            problem=setup.problem,
            optimizer="kfac",
            settings=kfac(**settings),
            plan=chosen,
        )

    fixed = plan(setup.updates, setup.fixed)
    return {
        "diagonal": by("block-diagonal", begins),
        "tridiagonal": by("block-tridiagonal", begins | TRIDIAGONAL),
        "diagonal, large": by(f"block-diagonal, λ from {LARGE:g}", {"damping": LARGE}),
        "tridiagonal, large": by(f"block-tridiagonal, λ from {LARGE:g}", {"damping": LARGE} | TRIDIAGONAL),
        "diagonal, found": by("block-diagonal, λ found", {}),
        "plain": by("block-diagonal, no momentum", begins | PLAIN),
        "plain, fixed": by(f"no momentum, batches of {setup.fixed}", begins | PLAIN, fixed),
        "iterate": by("block-diagonal, not averaged", begins, replace(grows, averaging="none")),
    }


def baselines(setup: Setup) -> Sequence[Training]:
    """Return those by Nesterov's method: every rate with every momentum."""
    return [
        Training(
            name=f"Nesterov, lr {lr:g}, momentum {schedule} {momentum:g}",
            problem=setup.problem,
            optimizer="nesterov",
            settings={**nesterov(lr, momentum), "momentum_schedule": schedule},
            plan=plan(setup.baseline_updates, setup.baseline_batch),
        )
        for lr, (schedule, momentum) in product(setup.rates, setup.momenta)
    ]
