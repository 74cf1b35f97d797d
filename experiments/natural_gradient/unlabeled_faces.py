"""Poor unlabeled cases in the metric, in place of faces that are not public."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any, Final

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.natural_gradient.by_metric import Method, Outcome, Training, outcome
from experiments.natural_gradient.paired import difference
from experiments.spread import spread
from worker.models.convolutional import Convolution, convolutional
from worker.models.named import Network

DATASET: Final = "tfd_like"
LABELED, WITH_UNLABELED = "batch alone", "batch and unlabeled"
LEARNED: Final = 1.0  # the training loss below which something was learned; ln 10 is that of a guess
METHODS: Final[Mapping[str, Method]] = {
    LABELED: Method(kind="same batch", lr=1.0, damping=8.0, adapts=True),
    WITH_UNLABELED: Method(kind="same and unlabeled", lr=1.0, damping=8.0, adapts=True),
}


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The sizes of all trainings."""

    convolution: Convolution
    sizes: Sequence[int]
    batch_size: int
    updates: int
    schedule: Mapping[str, Any]
    seeds: int

    def training(self, name: str, seed: int, size: Size) -> Training:
        """Return one training by one method."""
        shape = (1, 8, 8)
        build = partial(convolutional, shape, [self.convolution], self.sizes)
        return Training(
            dataset=DATASET,
            network=Network(build=build, shape=shape, link="softmax"),
            method=METHODS[name],
            updates=self.updates,
            batch_size=self.batch_size,
            seed=seed,
            size=size,
            schedule=self.schedule,
        )


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(
        convolution=Convolution(filters=8, kernel=4),
        sizes=(64, 32, 10),
        batch_size=96,
        updates=40,
        schedule={"lr_schedule": "inverse_after", "lr_after": 25, "lr_scale": 3.0},
        seeds=5,
    ),
    "full": Setup(
        convolution=Convolution(filters=300, kernel=4),
        sizes=(2048, 1024, 10),
        batch_size=960,
        updates=2000,
        schedule={"lr_schedule": "inverse_after", "lr_after": 200, "lr_scale": 20.0},
        seeds=10,
    ),
}


def run(size: Size) -> Result:
    setup = SETUPS[size]
    found = outcomes(setup, size)
    return Result(
        claims=claims(found),
        tables=[_table(found)],
        pictures=[_curves(found)],
        seeds=f"0 to {setup.seeds - 1}, the same for both",
        remarks=[
            (
                "The Toronto Face Database is not public. Digits stand in for it, with deformed and noisy "
                "copies as the poorer unlabeled cases: they follow its set-up, not its difficulty."
            ),
            _learned(found),
        ],
    )


def _learned(found: Mapping[str, Sequence[Outcome]]) -> str:
    """Return how many trainings have learned at all, and what the others did among themselves."""
    learns = {name: [each.train_loss[-1] < LEARNED for each in ended] for name, ended in found.items()}
    both = [seed for seed in range(len(found[LABELED])) if all(each[seed] for each in learns.values())]
    errors = {name: [100 * found[name][seed].test_error[-1] for seed in both] for name in found}
    told = ", ".join(f"{name} {sum(each)} of {len(each)}" for name, each in learns.items())
    apart = (
        "; ".join(f"{name} {', '.join(f'{each:.2f}' for each in of)} %" for name, of in errors.items())
        if both
        else "there is none"
    )
    return (
        f"Trainings that ended with a loss below {LEARNED:g}: {told}. So the first and the last claim are "
        "more of which metric keeps the first steps from going too far than of what unlabeled cases teach. "
        f"The test errors of the seeds with which both learned: {apart}."
    )


def outcomes(setup: Setup, size: Size) -> dict[str, list[Outcome]]:
    """Return by method what came of each seed."""
    cases = [setup.training(name, seed, size) for name in METHODS for seed in range(setup.seeds)]
    ended = iter(spread(outcome, cases))
    return {name: [next(ended) for _ in range(setup.seeds)] for name in METHODS}


def claims(found: Mapping[str, Sequence[Outcome]]) -> list[Claim]:
    """Judge what the original says of unlabeled cases."""
    errors = {name: [each.test_error[-1] for each in ended] for name, ended in found.items()}
    losses = {name: mean(each.train_loss[-1] for each in ended) for name, ended in found.items()}
    halves = {name: mean(each.train_loss[_half(each)] for each in ended) for name, ended in found.items()}
    apart = difference(errors[WITH_UNLABELED], errors[LABELED])
    return [
        Claim(
            says="Unlabeled cases in the metric lower the test error.",
            holds=apart.is_below,
            told=f"{apart}, by pairs of {len(errors[LABELED])} seeds; "
            + ", ".join(f"{name} {100 * mean(of):.2f} %" for name, of in errors.items()),
        ),
        Claim(
            says="At half of the updates the training loss with them is higher: convergence is slower.",
            holds=halves[WITH_UNLABELED] > halves[LABELED],
            told=", ".join(f"{name} {value:.3g}" for name, value in halves.items()),
        ),
        Claim(
            says="At the end the training loss with them is lower.",
            holds=losses[WITH_UNLABELED] < losses[LABELED],
            told=", ".join(f"{name} {value:.3g}" for name, value in losses.items()),
        ),
    ]


def _half(ended: Outcome) -> int:
    """Return the number of the first point of a curve that is not before half of the updates."""
    return next(at for at, update in enumerate(ended.updates) if 2 * update >= ended.updates[-1])


def _table(found: Mapping[str, Sequence[Outcome]]) -> Table:
    rows: list[list[Cell]] = [
        [seed, *(value for ended in found.values() for value in _end(ended[seed]))]
        for seed in range(len(found[LABELED]))
    ]
    head = [f"{name}: {of}" for name in found for of in ("train loss", "test error, %")]
    return Table(title="At the end, seed by seed", head=["seed", *head], rows=rows)


def _end(ended: Outcome) -> tuple[float, float]:
    return ended.train_loss[-1], 100 * ended.test_error[-1]


def _curves(found: Mapping[str, Sequence[Outcome]]) -> Picture:
    def lines(of: str) -> list[Line]:
        return [
            Line(
                name=name,
                x=ended[0].updates,
                y=[mean(values) for values in zip(*(getattr(each, of) for each in ended), strict=True)],
            )
            for name, ended in found.items()
        ]

    return Picture(
        name="curves",
        says="Training loss and test error, means over seeds.",
        panels=[
            Panel(title="train", x="updates", y="loss", log_y=True, lines=lines("train_loss")),
            Panel(title="test", x="updates", y="error", log_y=True, lines=lines("test_error")),
        ],
    )


EXPERIMENT: Final = Experiment(
    name="unlabeled-faces",
    title="Poor unlabeled cases in the metric",
    rows=[200],
    source="R. Pascanu and Y. Bengio, *Revisiting Natural Gradient for Deep Networks* (2014), section 5, "
    "section 8.7, figure 2 and table 1",
    asks="There are many unlabeled cases of poorer quality. Do they help when the metric is taken over the "
    "batch and some of them?",
    reported="""Toronto Face Database; a convolution with 300 filters of 12 x 12, layers of 2048 and 1024;
gradients of 960 cases, the metric of the same or of these and 480 unlabeled ones; damping from 8 on, adapted;
a rate that begins at 1 and falls like 1/t.

| | with unlabeled | without |
| --- | --: | --: |
| train cross-entropy | 0.054 | 0.098 |
| test error | 16.96 % | 18.87 % |

The text says that convergence on the training cases is slower with unlabeled ones. The figure has curves of a
different batch, the covariance and MSGD too, without numbers.""",
    here={
        "small": "1,500 digits and 4,800 poorer unlabeled ones; 8 filters of 4 x 4, layers of 64 and 32; 96 "
        "cases for the gradient and 48 unlabeled ones; 40 updates, of which the rate falls over the last 15. "
        "Five pairs of trainings with the same seeds.",
        "full": "The same digits (the faces are not public) with 300 filters, layers of 2048 and 1024, 960 "
        "and 480 cases, 2,000 updates and ten pairs.",
    },
    run=run,
)
