"""Whether centring what a layer sees makes gradient descent faster."""

from typing import Final

from experiments.compared import Compared, compared, is_lower, training_drawn, unmet
from experiments.experiment import Claim, Experiment, Result, Size
from experiments.factorized.comparison import FILES, METRIC, SETTING, early, only, table
from experiments.factorized.source import THESIS

SGD, CENTRED, MEAN_ONLY = "sgd", "centred", "mean-only"
ARMS: Final = [SGD, CENTRED, MEAN_ONLY]


def run(size: Size) -> Result:
    """Return it."""
    found = only(compared(FILES[size]), ARMS)
    return result(found, found.lowest("test_error"))


def result(found: Compared, tests: dict[str, float]) -> Result:
    """Return what the comparison and the lowest test errors say."""
    report = found.report
    soon = {label: early(found, label) for label in ARMS}
    best = min(tests, key=lambda label: tests[label])
    return Result(
        claims=[
            Claim(
                says="Centring helps where there are few updates.",
                holds=soon[CENTRED] < soon[SGD],
                told=f"after a third of them: {CENTRED} {soon[CENTRED]:.4g}, {SGD} {soon[SGD]:.4g}",
            ),
            Claim(
                says="What centring helps does not last to the end of a longer training.",
                holds=not is_lower(report, CENTRED, SGD, says="").holds,
                told=is_lower(report, CENTRED, SGD, says="").told,
            ),
            is_lower(
                report, MEAN_ONLY, CENTRED, says="On training cases mean-only batch normalisation is best."
            ),
            Claim(
                says="On test cases it is best too.",
                holds=best == MEAN_ONLY,
                told=", ".join(f"{label} {value:.4g}" for label, value in tests.items()),
            ),
        ],
        tables=[table(found, ARMS, tests)],
        pictures=[
            training_drawn(
                report,
                METRIC,
                y="squared error of the training cases",
                says="The best config of each method, trained again with fresh seeds: the mean of its runs.",
            )
        ],
        seeds="1 for the comparison, from which those of all searches and trials follow",
        remarks=[*REMARKS, *unmet(report)],
    )


REMARKS: Final = (
    (
        "The thesis trained for 300,000 updates. *Few* and *long* are matters of scale: what it saw is "
        "beyond the small size, and a lower error of centred descent here does not refute it."
    ),
)

EXPERIMENT: Final = Experiment(
    name="centring",
    title="Centring tricks",
    rows=(193,),
    source=f"{THESIS}, section 6.6.1",
    asks="Gradient descent, gradient descent with the mean of each layer's inputs taken out, and mean-only "
    "batch normalisation: which trains a deep autoencoder best?",
    reported="In words and a figure without numbers: centring the gradient helps for a small number of "
    "updates, and not in longer trainings; of what centres, mean-only batch normalisation is best, on "
    "training and on test cases.",
    here={
        size: f"{says} The trials are those of `second-order-approximations`; where that has run, none is "
        "trained again."
        for size, says in SETTING.items()
    },
    run=run,
    files=list(FILES.values()),
)
