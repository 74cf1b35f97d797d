"""Whether every method of the thesis trains a rectifier network to tell classes apart."""

from typing import Final

from experiments.compared import Compared, arms_table, compared, files, training_drawn
from experiments.experiment import Claim, Experiment, Result, Size, Table
from experiments.factorized.source import THESIS

FILES: Final = files("factorized/rectifier")
WRONG: Final = 0.05


def run(size: Size) -> Result:
    """Return it."""
    found = compared(FILES[size])
    return result(found, found.lowest("train_error"), found.lowest("test_error"))


def result(found: Compared, trained: dict[str, float], tested: dict[str, float]) -> Result:
    """Return what the comparison and the least shares of wrong classes say."""
    worst = max(trained, key=lambda label: trained[label])
    return Result(
        claims=[
            Claim(
                says="Every method comes to less than 5 % wrong training cases.",
                holds=trained[worst] < WRONG,
                told=f"at worst {worst} with {trained[worst]:.2%}",
            )
        ],
        tables=[
            _table(trained, tested),
            arms_table(found.report, title="Cross-entropy of the training cases"),
        ],
        pictures=[
            training_drawn(
                found.report,
                y="cross-entropy of the training cases",
                says="The best config of each method, trained again with fresh seeds: the mean of its runs.",
            )
        ],
        seeds="1 for the comparison, from which those of all searches and trials follow",
    )


def _table(trained: dict[str, float], tested: dict[str, float]) -> Table:
    return Table(
        title="Least share of wrong classes at any point of any trial, in per cent",
        head=["method", "training cases", "test cases"],
        rows=[[label, 100 * trained[label], 100 * tested[label]] for label in trained],
        note="The test cases have chosen their column, which flatters.",
    )


EXPERIMENT: Final = Experiment(
    name="rectifier-network",
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
