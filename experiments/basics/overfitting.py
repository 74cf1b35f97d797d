"""Overfitting of few cases, and the end of a training with constant and with annealed rates."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import mean, stdev
from typing import Final

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from thiessen.space import Scalar
from worker.tasks.alone import Alone
from worker.tasks.classifier import train as train_classifier

Config = Mapping[str, Scalar]
Curve = Sequence[tuple[int, Mapping[str, float]]]

SEEDS: Final = 5
RATES: Final = (0.1, 0.3, 1.0)
FEW: Final[Mapping[Size, Config]] = {
    "small": {"dataset": "digits", "cases": 100, "hidden": 64, "batch_size": 100, "updates": 2_000},
    "full": {"dataset": "mnist", "cases": 1_000, "hidden": 225, "batch_size": 100, "updates": 20_000},
}
ALL_CASES: Final[Mapping[Size, Config]] = {
    "small": {"dataset": "digits", "hidden": 32, "batch_size": 20, "updates": 300, "weight_decay": 1e-3},
    "full": {"dataset": "mnist", "hidden": 225, "batch_size": 100, "updates": 30_000, "weight_decay": 1e-4},
}
SHARED: Final[Config] = {
    "activation": "relu",
    "depth": 2,
    "initialisation": "balanced",
    "optimizer": "sgd",
    "hold_back": False,
    "points": 40,
    "criterion": "final_train",
}
ANNEALED, CONSTANT = "final_annealing", "constant"


def run(size: Size) -> Result:
    few = spread(curve, [({**SHARED, **FEW[size], "lr": 0.1}, seed) for seed in range(SEEDS)])
    annealing = annealed(size)
    return Result(
        claims=[*overfitting_claims(few), *annealing_claims(annealing)],
        tables=[_table(annealing)],
        pictures=[_overfitting(few), _annealing(annealing)],
        seeds=f"0 to {SEEDS - 1}",
    )


def curve(case: tuple[Config, int]) -> Curve:
    """Train a classifier and return its learning curve."""
    config, seed = case
    alone = Alone(seed=seed)
    train_classifier(dict(config), alone)
    return alone.curve


def annealed(size: Size) -> dict[tuple[str, float], list[Curve]]:
    """Return by schedule and rate the curve of each seed."""
    keys = [(schedule, rate) for rate in RATES for schedule in (CONSTANT, ANNEALED)]
    cases = [
        ({**SHARED, **ALL_CASES[size], "lr": rate, "lr_schedule": schedule}, seed)
        for schedule, rate in keys
        for seed in range(SEEDS)
    ]
    curves = iter(spread(curve, cases))
    return {key: [next(curves) for _ in range(SEEDS)] for key in keys}


def overfitting_claims(few: Sequence[Curve]) -> list[Claim]:
    """Judge whether the loss on new cases rises while that of the learned ones falls."""
    train, test = average(few, "train_loss"), average(few, "test_loss")
    least = min(range(len(test)), key=test.__getitem__)
    return [
        Claim(
            says="Without regularisation a network overfits few cases: the training loss falls to the end, "
            "the loss on new cases reaches a least value and rises.",
            holds=train[-1] < train[least] and test[-1] > test[least] and least < len(test) - 1,
            told=f"training loss {train[least]:.3f} and then {train[-1]:.4f}; test loss {test[least]:.3f} at "
            f"update {few[0][least][0]:,}, {test[-1]:.3f} at the end",
        )
    ]


def annealing_claims(found: Mapping[tuple[str, float], Sequence[Curve]]) -> list[Claim]:
    """Judge whether annealing the rate lowers the loss at the end."""
    apart = {
        rate: [
            a[-1][1]["train_loss"] - b[-1][1]["train_loss"]
            for a, b in zip(found[ANNEALED, rate], found[CONSTANT, rate], strict=True)
        ]
        for rate in RATES
    }
    return [
        Claim(
            says="It is important to anneal the rate towards the end when batches are small.",
            holds=all(mean(of) + 2 * stdev(of) / sqrt(len(of)) < 0 for of in apart.values()),
            told="annealed less constant, training loss at the end: "
            + ", ".join(
                f"rate {rate:g}: {mean(of):+.4f} ± {stdev(of) / sqrt(len(of)):.4f}"
                for rate, of in apart.items()
            ),
        )
    ]


def average(curves: Sequence[Curve], of: str) -> list[float]:
    """Return the mean over curves of a number, point by point."""
    return [mean(told[of] for _, told in points) for points in zip(*curves, strict=True)]


def _table(found: Mapping[tuple[str, float], Sequence[Curve]]) -> Table:
    rows: list[list[Cell]] = [
        [
            f"{rate:g}, {schedule.replace('final_annealing', 'annealed')}",
            average(curves, "train_loss")[-1],
            100 * average(curves, "test_error")[-1],
        ]
        for (schedule, rate), curves in found.items()
    ]
    return Table(
        title="At the end, means over seeds", head=["rate", "train loss", "test error, %"], rows=rows
    )


def _overfitting(few: Sequence[Curve]) -> Picture:
    updates = [update for update, _ in few[0]]
    return Picture(
        name="overfitting",
        says="Loss on the cases that are learned and on new ones; means over seeds.",
        panels=[
            Panel(
                x="updates",
                y="loss",
                log_y=True,
                lines=[
                    Line(name=name, x=updates, y=average(few, of))
                    for name, of in (("learned", "train_loss"), ("new", "test_loss"))
                ],
            )
        ],
    )


def _annealing(found: Mapping[tuple[str, float], Sequence[Curve]]) -> Picture:
    return Picture(
        name="annealing",
        says="Training loss with a constant rate, and with one that falls to 0 over the second half.",
        columns=3,
        panels=[
            Panel(
                title=f"rate {rate:g}",
                x="updates",
                y="training loss",
                log_y=True,
                lines=[
                    Line(
                        name=name,
                        x=[update for update, _ in found[schedule, rate][0]],
                        y=average(found[schedule, rate], "train_loss"),
                    )
                    for name, schedule in (("constant", CONSTANT), ("annealed", ANNEALED))
                ],
            )
            for rate in RATES
        ],
    )


EXPERIMENT: Final = Experiment(
    name="overfitting-and-annealing",
    title="Overfitting, and annealing the rate",
    rows=[228],
    source="O. Winther, *Optimising feed-forward neural networks* (lectures, Deep learning summer camp, "
    "Technical University of Denmark, 2016), parts 1 and 2",
    asks="Does a network without regularisation learn few cases by heart? Does a rate that falls towards the "
    "end help where batches are small?",
    reported="A warning of overfitting, and the advice that it is important to anneal the step size towards "
    "the end of a training by mini-batches. There are no numbers.",
    here={
        "small": "Overfitting: 100 digits, 64-64-64-10 rectifiers, 2,000 updates of gradient descent on all "
        "of them. Annealing: 1,500 digits, 64-32-32-10, batches of 20, 300 updates with a small weight "
        "decay, at three rates, constant or falling to 0 in a straight line over the second half. Five "
        "seeds.",
        "full": "The same on MNIST: 1,000 cases and 20,000 updates; 60,000 cases, batches of 100 and 50 "
        "epochs.",
    },
    run=run,
)
