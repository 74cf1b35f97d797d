"""Which learning rates a network bears, with batch normalisation and without."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Final

from experiments.basics.depth_and_scale import Config, final_loss
from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread

RATES: Final = tuple(0.1 * 2**step for step in range(10))
KINDS: Final = ("none", "batch")
DEPTHS: Final = (1, 4)
LEARNED: Final = 0.5  # training loss, of ln 10 = 2.30 at the start
TIMES: Final = (5, 30)
SIZES: Final[Mapping[Size, Config]] = {
    "small": {"dataset": "digits", "hidden": 64, "updates": 200, "batch_size": 100},
    "full": {"dataset": "mnist", "hidden": 225, "updates": 6_000, "batch_size": 100},
}

Losses = Mapping[tuple[str, int], Sequence[float]]  # by normalisation and depth, for each rate


def run(size: Size) -> Result:
    found = losses(size)
    return Result(
        claims=claims(found),
        tables=[_table(found)],
        pictures=[_picture(found)],
        seeds="0",
        remarks=[
            (
                "The factors of the original are of a network for ImageNet (Inception), trained for weeks: "
                "there the rate was chosen so, here it is the largest that still learns."
            ),
        ],
    )


def losses(size: Size) -> Losses:
    """Return the training loss at the end for each rate; infinite where it diverged."""
    keys = [(kind, depth) for depth in DEPTHS for kind in KINDS]
    configs: list[Config] = [
        {
            **SIZES[size],
            "depth": depth,
            "activation": "relu",
            "initialisation": "balanced",
            "normalisation": kind,
            "optimizer": "sgd",
            "lr": rate,
            "criterion": "final_train",
            "hold_back": False,
            "points": 1,
        }
        for kind, depth in keys
        for rate in RATES
    ]
    ended = iter(spread(final_loss, configs))
    return {key: [next(ended) for _ in RATES] for key in keys}


def largest(of: Sequence[float]) -> float:
    """Return the largest rate with which the network has learned; 0 where none is."""
    return max((rate for rate, loss in zip(RATES, of, strict=True) if loss < LEARNED), default=0.0)


def claims(found: Losses) -> list[Claim]:
    """Judge what is said of batch normalisation."""
    ratios = {depth: largest(found["batch", depth]) / largest(found["none", depth]) for depth in DEPTHS}
    best = {key: min(of) for key, of in found.items()}
    told = "; ".join(
        f"{depth} hidden: {largest(found['batch', depth]):g} with, {largest(found['none', depth]):g} without"
        for depth in DEPTHS
    )
    return [
        *(
            Claim(
                says=f"Batch normalisation allows rates {times} times as large.",
                holds=min(ratios.values()) >= times,
                told=f"{told}: " + ", ".join(f"{ratio:.3g} times" for ratio in ratios.values()),
            )
            for times in TIMES
        ),
        Claim(
            says="It improves learning.",
            holds=all(best["batch", depth] < best["none", depth] for depth in DEPTHS),
            told="training loss at the best rate: "
            + "; ".join(
                f"{depth} hidden: {best['batch', depth]:.2g} with, {best['none', depth]:.2g} without"
                for depth in DEPTHS
            ),
        ),
    ]


def _table(found: Losses) -> Table:
    rows: list[list[Cell]] = [
        [rate, *(of[at] if isfinite(of[at]) else None for of in found.values())]
        for at, rate in enumerate(RATES)
    ]
    return Table(
        title="Training loss at the end",
        head=["rate", *map(_name, found)],
        rows=rows,
        note=f"A dash: diverged. A network counts as trained below {LEARNED}.",
    )


def _name(key: tuple[str, int]) -> str:
    kind, depth = key
    return f"{depth} hidden, {'plain' if kind == 'none' else 'normalised'}"


def _picture(found: Losses) -> Picture:
    return Picture(
        name="rates",
        says="Training loss at the end against the learning rate. A line ends where training diverged.",
        panels=[
            Panel(
                x="learning rate",
                y="training loss",
                log_x=True,
                log_y=True,
                lines=[
                    Line(
                        name=_name(key),
                        x=RATES,
                        y=[loss if loss < inf else None for loss in of],
                    )
                    for key, of in found.items()
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    name="normalised-rates",
    title="Learning rates with batch normalisation",
    rows=[225],
    source="O. Winther, *Optimising feed-forward neural networks* (lectures, Deep learning summer camp, "
    "Technical University of Denmark, 2016), part 3, after S. Ioffe and C. Szegedy, *Batch normalization* "
    "(2015)",
    asks="Which learning rates does a network bear with batch normalisation, and which without?",
    reported="Batch normalisation improves learning and allows bigger learning rates, 5 and 30 times as "
    "large (variants of Inception on ImageNet).",
    here={
        "small": "Digits networks of one and four hidden layers of 64 rectifiers, 200 updates of gradient "
        "descent on batches of 100, at ten rates from 0.1 on, each twice the one before.",
        "full": "The same on MNIST with 225 units and 6,000 updates. ImageNet is beyond this project.",
    },
    run=run,
)
