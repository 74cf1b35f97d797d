"""Whether every method of the thesis trains a rectifier network to tell classes apart."""

from math import inf
from typing import Final

from experiments.compared import arms_table, compared, curve, files, training_drawn, unmet
from experiments.experiment import Claim, Experiment, Result, Size, Table
from experiments.factorized.source import THESIS
from thiessen.contract import ComparisonReport

FILES: Final = files("factorized/rectifier")
WRONG: Final = 0.05


def run(size: Size) -> Result:
    """Return it."""
    return result(compared(FILES[size]).report)


def result(report: ComparisonReport) -> Result:
    """Return what a report of the comparison says."""
    wrong = {each.label: _end(report, each.label, "train_error") for each in report.arms}
    worst = max(wrong, key=lambda label: wrong[label])
    return Result(
        claims=[
            Claim(
                says="The best config of every method comes to less than 5 % wrong training cases, on fresh "
                "seeds.",
                holds=wrong[worst] < WRONG,
                told=f"at worst {worst} with {wrong[worst]:.2%}",
            )
        ],
        tables=[_table(report, wrong), arms_table(report, title="Cross-entropy of the training cases")],
        pictures=[
            training_drawn(
                report,
                "train_loss",
                y="cross-entropy of the training cases",
                says="The best config of each method, trained again with fresh seeds: the mean of its runs.",
            )
        ],
        seeds="1 for the comparison, from which those of all searches and trials follow",
        remarks=unmet(report),
    )


def _table(report: ComparisonReport, wrong: dict[str, float]) -> Table:
    return Table(
        title="Wrong classes after the last update, in per cent",
        head=["method", "training cases", "test cases"],
        rows=[[label, 100 * wrong[label], 100 * _end(report, label, "test_error")] for label in wrong],
        note="The best config of each method, trained again: the mean of its runs.",
    )


def _end(report: ComparisonReport, label: str, metric: str) -> float:
    end = curve(report, label, metric).mean[-1]
    return inf if end is None else end


EXPERIMENT: Final = Experiment(
    name="rectifier-methods",
    title="A rectifier network by every method",
    rows=(195,),
    source=f"{THESIS}, section 4.3",
    asks="The second benchmark of the thesis: a multilayer perceptron of rectifiers learns ten classes of "
    "pictures.",
    reported="Nothing beyond the task: the section names CIFAR-10, a multilayer perceptron and rectifiers, "
    "and gives neither sizes nor results. That every method trains it is asked here, not there.",
    here={
        "small": "Digits in place of CIFAR-10, a perceptron 64-64-64-10, 300 updates with batches of 100. "
        "Each method has three searches of six trials over its rate, the variance of the first weights, and "
        "its ridge, α or damping.",
        "full": "CIFAR-10, a perceptron 3072-512-512-512-10, 30,000 updates with batches of 200. Each "
        "method has five searches of forty trials. Whoever has the subset of 12,000 pictures alone trains "
        "on that.",
    },
    run=run,
    files=list(FILES.values()),
)
