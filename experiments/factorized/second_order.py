"""How much second-order approximations gain over normalised gradient descent."""

from typing import Final

from experiments.compared import Compared, compared, headline, is_lower, training_drawn, unmet
from experiments.experiment import Claim, Experiment, Result, Size
from experiments.factorized.comparison import FILES, METRIC, SETTING, early, only, table
from experiments.factorized.source import THESIS

SGD, BATCH, ACP, FIXED, KFAC = "sgd", "batch-norm", "acp", "acp-fixed", "kfac"
SECOND: Final = [ACP, FIXED, KFAC]
ARMS: Final = [SGD, BATCH, *SECOND]
MARGIN: Final = 0.75  # of the other's error: less than this is a large margin
ALIKE: Final = 1.25  # times the least: no more than this is similar


def run(size: Size) -> Result:
    """Return it."""
    found = only(compared(FILES[size]), ARMS)
    return result(found, found.lowest("test_error"))


def result(found: Compared, tests: dict[str, float]) -> Result:
    """Return what the comparison and the lowest test errors say."""
    report = found.report
    soon = {label: early(found, label) for label in ARMS}
    ends = {label: headline(report, label) for label in SECOND}
    best = min(tests, key=lambda label: tests[label])
    return Result(
        claims=[
            *(
                is_lower(
                    report, each, SGD, says=f"{each} is far better than gradient descent.", factor=MARGIN
                )
                for each in SECOND
            ),
            *(
                is_lower(
                    report,
                    each,
                    BATCH,
                    says=f"{each} is far better than gradient descent with batch normalisation.",
                    factor=MARGIN,
                )
                for each in SECOND
            ),
            Claim(
                says="ACP is ahead of batch normalisation after a third of the updates.",
                holds=soon[ACP] <= soon[BATCH],
                told=f"{ACP} {soon[ACP]:.4g}, {BATCH} {soon[BATCH]:.4g}",
            ),
            Claim(
                says="K-FAC and both kinds of ACP do alike.",
                holds=max(ends.values()) <= ALIKE * min(ends.values()),
                told=", ".join(f"{label} {value:.4g}" for label, value in ends.items())
                + f"; alike is within {ALIKE:g} times the least",
            ),
            Claim(
                says="On test cases ACP is slightly better than all others.",
                holds=best in {ACP, FIXED},
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
        "The thesis gives its comparison over seconds of a GPU. Networks this small leave a CPU to wait for "
        "Python: the seconds here say little of those there, the updates more."
    ),
)

EXPERIMENT: Final = Experiment(
    name="second-order-approximations",
    title="Second-order approximations beside batch normalisation",
    rows=(194,),
    source=f"{THESIS}, section 6.6.2",
    asks="K-FAC, the amortised covariance preconditioner with its α by a heuristic (ACP) and searched (ACP "
    "fixed), batch normalisation and gradient descent: which trains a deep autoencoder best?",
    reported="In words and a figure without numbers: K-FAC and both kinds of ACP do alike over time, and "
    "all are better than batch normalisation and gradient descent by a large margin; on test cases ACP is "
    "slightly better than all, in the error it reaches and in the time it takes.",
    here=SETTING,
    run=run,
    files=list(FILES.values()),
)
