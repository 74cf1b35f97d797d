"""Few labelled cases: the metric over the same batch, over another one, over unlabeled inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Final

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.natural_gradient.by_metric import Method, Outcome, Training, outcome
from experiments.natural_gradient.paired import difference
from experiments.spread import spread
from worker.models.named import NETWORKS

PUBLISHED: Final[Mapping[str, Method]] = {
    "MSGD": Method(kind="gradient", lr=1.0),
    "KL, unlabeled": Method(kind="unlabeled", lr=5.0, damping=2.0, adapts=True),
    "KL, different batch": Method(kind="different batch", lr=0.1, damping=0.01),
    "KL, same batch": Method(kind="same batch", lr=0.1, damping=0.01),
    "covariance": Method(kind="covariance", lr=5.0, damping=0.1),
}
ON_DIGITS: Final[Mapping[str, Method]] = {
    **PUBLISHED,
    "KL, unlabeled": Method(kind="unlabeled", lr=0.3, damping=0.1),  # with the published ones it may diverge
}
PLAIN: Final = "KL, same batch"  # what the others are compared with
FEW: Final = 0.02  # the training loss below which the labelled cases count as learned


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The sizes of all trainings."""

    dataset: str
    network: str
    batch_size: int
    updates: int
    gradient_batch_size: int  # of MSGD
    gradient_updates: int
    seeds: int
    methods: Mapping[str, Method]

    def training(self, name: str, seed: int, size: Size) -> Training:
        """Return one training by one method."""
        is_gradient = self.methods[name].kind == "gradient"
        return Training(
            dataset=self.dataset,
            network=NETWORKS[self.network],
            method=self.methods[name],
            updates=self.gradient_updates if is_gradient else self.updates,
            batch_size=self.gradient_batch_size if is_gradient else self.batch_size,
            seed=seed,
            size=size,
        )


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(
        dataset="restricted_digits",
        network="digits_wide",
        batch_size=100,
        updates=200,
        gradient_batch_size=10,
        gradient_updates=4000,
        seeds=10,
        methods=ON_DIGITS,
    ),
    "full": Setup(
        dataset="restricted_mnist",
        network="mnist_wide",
        batch_size=2500,
        updates=2000,
        gradient_batch_size=250,
        gradient_updates=40_000,
        seeds=10,
        methods=PUBLISHED,
    ),
}


def run(size: Size) -> Result:
    found = outcomes(SETUPS[size], size)
    return Result(
        claims=claims(found),
        tables=[_table(found), _pairs(found)],
        pictures=[_curves(found)],
        seeds=f"0 to {SETUPS[size].seeds - 1}, the same for each method",
        remarks=[
            (
                "The original tells one training of each method, and not how many cases are labelled. Here "
                "each is repeated; where a difference is within two standard errors, this size does not "
                "resolve it."
            ),
            (
                "The published rates and damping were found by a grid search on MNIST, not on digits. With "
                "those of the metric over unlabeled inputs (rate 5, damping 2, adapted) one seed of ten "
                "diverged here, and the others ended with more errors. Of eleven pairs tried with other "
                "seeds, rate 0.3 and damping 0.1 made the fewest errors among those with which none of "
                "twenty diverged; larger steps in a metric of other cases do so in one seed of ten to twenty."
            ),
        ],
    )


def outcomes(setup: Setup, size: Size) -> dict[str, list[Outcome]]:
    """Return by method what came of each seed."""
    cases = [setup.training(name, seed, size) for name in setup.methods for seed in range(setup.seeds)]
    ended = iter(spread(outcome, cases))
    return {name: [next(ended) for _ in range(setup.seeds)] for name in setup.methods}


def claims(found: Mapping[str, Sequence[Outcome]]) -> list[Claim]:
    """Judge what the original says of its table."""
    losses = {name: mean(each.train_loss[-1] for each in ended) for name, ended in found.items()}
    errors = {name: [each.test_error[-1] for each in ended] for name, ended in found.items()}
    natural = [name for name in found if name != "MSGD"]
    best = min(errors, key=lambda name: mean(errors[name]))
    apart = {name: difference(errors[name], errors["MSGD"]) for name in natural}
    unlabeled = difference(errors["KL, unlabeled"], errors[PLAIN])
    different = difference(errors["KL, different batch"], errors[PLAIN])
    return [
        Claim(
            says=f"All five methods learn the labelled cases: training loss below {FEW}.",
            holds=max(losses.values()) < FEW,
            told=", ".join(f"{name} {value:.4f}" for name, value in losses.items()),
        ),
        Claim(
            says="The metric over unlabeled inputs gives the lowest test error of all.",
            holds=best == "KL, unlabeled" and unlabeled.is_below,
            told=f"lowest is {best} with {100 * mean(errors[best]):.2f} %; unlabeled less same batch: "
            f"{unlabeled}",
        ),
        Claim(
            says="The metric over a different batch gives a lower test error than over the same one.",
            holds=different.is_below,
            told=str(different),
        ),
        Claim(
            says="Every natural gradient gives a lower test error than MSGD.",
            holds=all(pair.is_below for pair in apart.values()),
            told="; ".join(f"{name}: {pair}" for name, pair in apart.items()),
        ),
    ]


def _table(found: Mapping[str, Sequence[Outcome]]) -> Table:
    rows: list[list[Cell]] = []
    for name, ended in found.items():
        errors = [100 * each.test_error[-1] for each in ended]
        losses = [each.train_loss[-1] for each in ended]
        rows.append([name, mean(losses), mean(errors), stdev(errors)])
    return Table(
        title="At the end",
        head=["method", "train loss", "test error, %", "its deviation over seeds"],
        rows=rows,
    )


def _pairs(found: Mapping[str, Sequence[Outcome]]) -> Table:
    plain = [each.test_error[-1] for each in found[PLAIN]]
    pairs = {
        name: difference([each.test_error[-1] for each in ended], plain)
        for name, ended in found.items()
        if name != PLAIN
    }
    return Table(
        title=f"Test error less that of {PLAIN}, seed by seed, in percentage points",
        head=["method", "mean difference", "standard error"],
        rows=[[name, 100 * pair.mean, 100 * pair.error] for name, pair in pairs.items()],
    )


def _curves(found: Mapping[str, Sequence[Outcome]]) -> Picture:
    def lines(of: str, times: float) -> list[Line]:
        return [
            Line(
                name=name,
                x=[update / ended[0].updates[-1] for update in ended[0].updates],
                y=[
                    times * mean(values)
                    for values in zip(*(getattr(each, of) for each in ended), strict=True)
                ],
            )
            for name, ended in found.items()
        ]

    share = "part of all updates"
    return Picture(
        name="curves",
        says="Training loss and test error, means over seeds, against the part of each method's updates.",
        panels=[
            Panel(title="train", x=share, y="loss", log_y=True, lines=lines("train_loss", 1.0)),
            Panel(title="test", x=share, y="error, %", log_y=True, lines=lines("test_error", 100.0)),
        ],
    )


EXPERIMENT: Final = Experiment(
    name="restricted-mnist",
    title="Few labelled cases, and what the metric is taken over",
    rows=[198],
    source="R. Pascanu and Y. Bengio, *Revisiting Natural Gradient for Deep Networks* (2014), section 5, "
    "section 8.5, figure 4 and table 1",
    asks="The Fisher matrix needs no targets. Does a network that has few labelled cases err less on new "
    "ones when the metric is taken over other inputs than those of the gradient, unlabeled ones above all?",
    reported="""An MLP 784-1500-10 on a part of MNIST; batches of 2500 and 2000 updates for natural gradients,
of 250 and 40,000 updates for mini-batch gradient descent (MSGD); constant rates.

| | MSGD | KL, unlabeled | KL, different batch | KL, same batch | covariance |
| --- | --: | --: | --: | --: | --: |
| train cross-entropy | 0.0523 | 0.0017 | 0.0012 | 0.0023 | 0.0006 |
| test error | 5.22 % | 4.63 % | 4.89 % | 4.91 % | 4.74 % |""",
    here={
        "small": "Digits of 8 x 8 pixels: 200 labelled, 800 unlabeled, 797 to test with. An MLP 64-100-10; "
        "batches of 100 and 200 updates, for MSGD of 10 and 4,000. Rates, damping and the limit of 20 "
        "products in a step are the published ones, but for the metric over unlabeled inputs. Ten seeds, "
        "shared by all methods.",
        "full": "As published, with 6,000 labelled cases of MNIST (how many is not told) and ten seeds.",
    },
    run=run,
)
