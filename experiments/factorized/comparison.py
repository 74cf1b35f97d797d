"""The comparison of the thesis's methods on an autoencoder, which two experiments read."""

from collections.abc import Mapping
from typing import Final

from experiments.compared import Compared, arm, curve, files, headline
from experiments.experiment import Cell, Size, Table

FILES: Final = files("factorized/methods")
SETTING: Final[Mapping[Size, str]] = {
    "small": "An autoencoder 64-50-22-10-22-50-64 on the 1,500 training digits: logistic hidden units and "
    "outputs, a linear code, half the squared error, batches of 100, 500 updates. Each method has three "
    "searches of eight trials by our biased random search over its rate, the variance of the first "
    "weights, and what else it has: the ridge of ACP, its α, the damping of K-FAC. Statistics and inverses "
    "are renewed every 100 updates. A trial is judged by its lowest squared error on all training cases; "
    "the best config of each method is trained three times more.",
    "full": "The autoencoder 784-1000-500-250-30-250-500-1000-784 on the 60,000 training images of MNIST, "
    "batches of 200, 300,000 updates, statistics and inverses renewed every 100; each method has ten "
    "searches of forty trials.",
}
METRIC: Final = "train_error"
AT: Final = 1 / 3  # of all updates: when the early ones are compared


def table(found: Compared, labels: list[str], tests: dict[str, float]) -> Table:
    """Return what some of the methods come to, on training and on test cases."""
    rows: list[list[Cell]] = []
    for label in labels:
        trained = arm(found.report, label)
        rows.append(
            [
                label,
                min((each.final for each in trained.searches if each.final is not None), default=None),
                trained.final.mean,
                headline(found.report, label),
                tests[label],
            ]
        )
    return Table(
        title="Squared error",
        head=[
            "method",
            "best of all trials",
            "best of a search",
            "on fresh seeds",
            "test, best of all trials",
        ],
        rows=rows,
        note="*Best of a search* is the mean over the searches. The last column is the lowest error of the "
        "test cases at any point of any trial, as in the thesis: it is chosen by the test cases and "
        "flatters.",
    )


def early(found: Compared, label: str) -> float:
    """Return where the best config of a method stands after a third of the updates, in the mean."""
    line = curve(found.report, label, METRIC)
    until = AT * max(line.at)
    value = [mean for at, mean in zip(line.at, line.mean, strict=True) if at <= until][-1]
    return float("inf") if value is None else value


def only(found: Compared, labels: list[str]) -> Compared:
    """Return the comparison with some of its arms alone."""
    arms = [each for each in found.report.arms if each.label in labels]
    return Compared(found.report.model_copy(update={"arms": arms}), found.folder)
