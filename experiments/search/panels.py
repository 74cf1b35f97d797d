"""How two hyperparameters depend on each other, and where three ways of searching look."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

import numpy as np

from experiments.compared import Tried, compared
from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.search.source import BIASED, DEFAULT, FILES, GRID, HERE, PUBLISHED, RANDOM, SOURCE
from thiessen.comparison.pairs import paired

Searches = Mapping[str, Sequence[Sequence[Tried]]]  # by arm, and there by replicate

TITLES: Final = {
    GRID: "grid",
    RANDOM: "random",
    PUBLISHED: "biased random, as published",
    DEFAULT: "biased random, our default",
}
LEVEL: Final = 0.01
GOOD: Final = 0.1  # the part of all trials that is called good
LAST_COLOUR: Final = 0.9  # what is worse than so many of the trials has one colour


def run(size: Size) -> Result:
    """Return it."""
    return result(compared(FILES[size]).trials(*TITLES))


def result(searches: Searches) -> Result:
    """Return what the trials of all searches say."""
    halves = {label: [second_half(each) for each in of_arm] for label, of_arm in searches.items()}
    first = {label: of_arm[0] for label, of_arm in searches.items()}
    return Result(
        claims=[_depend(searches[RANDOM]), *(_looks_lower(halves, label) for label in BIASED)],
        tables=[_table(halves)],
        pictures=[_interaction(first[RANDOM]), _side_by_side(first)],
        seeds="1 for the comparison; what is drawn is its first replicate",
    )


def second_half(trials: Sequence[Tried]) -> float:
    """Return the median value of the second half of a search."""
    return median(each.value for each in trials[len(trials) // 2 :])


def dependence(searches: Sequence[Sequence[Tried]]) -> tuple[float, float]:
    """Return Spearman's correlation of the two among the best tenth of all trials, and its p-value."""
    from scipy.stats import spearmanr

    trials = sorted((each for search in searches for each in search), key=lambda each: each.value)
    good = trials[: math.ceil(GOOD * len(trials))]
    found = spearmanr([each.config["lr"] for each in good], [each.config["init_alpha"] for each in good])
    return float(found.statistic), float(found.pvalue)


def _depend(searches: Sequence[Sequence[Tried]]) -> Claim:
    correlation, p = dependence(searches)
    return Claim(
        says="The rate and the variance of the first weights are not independent of each other.",
        holds=p < LEVEL,
        told="among the best tenth of the trials of random search their ranks correlate by "
        f"{correlation:.2f}, p = {p:.2g}",
    )


def _looks_lower(halves: Mapping[str, Sequence[float]], label: str) -> Claim:
    test = paired(np.array(halves[label]), np.array(halves[RANDOM]))
    return Claim(
        says=f"The second half of {BIASED[label]} looks where the error is lower than random search does, "
        f"at p < {LEVEL}.",
        holds=test.first_is_better and test.p < LEVEL,
        told=f"the median of the second half is lower in {test.wins} of {len(halves[label])} searches, by "
        f"{test.difference:.3g} in the middle; p = {test.p:.2g}",
    )


def _table(halves: Mapping[str, Sequence[float]]) -> Table:
    return Table(
        title="The median of the second half of a search",
        head=["strategy", "least", "middle", "greatest"],
        rows=[[TITLES[label], min(each), median(each), max(each)] for label, each in halves.items()],
        note="Over all searches.",
    )


def _interaction(trials: Sequence[Tried]) -> Picture:
    return Picture(
        name="interaction",
        says="One random search: each mark is a training, its colour its error. Neither hyperparameter can "
        "be chosen without the other. Crosses diverged; what is worse than nine of ten has the last colour.",
        panels=[_panel("", trials)],
        scale=_scale([trials]),
        scaled="squared error",
    )


def _side_by_side(first: Mapping[str, Sequence[Tried]]) -> Picture:
    return Picture(
        name="panels",
        says="Where each way of searching looks: the first search of each, on one scale of colours.",
        panels=[_panel(TITLES[label], trials) for label, trials in first.items()],
        scale=_scale(list(first.values())),
        scaled="squared error",
    )


def _panel(title: str, trials: Sequence[Tried]) -> Panel:
    ordered = sorted(trials, key=lambda each: -each.value)  # the best are drawn last
    line = Line(
        name="",
        x=[_number(each, "lr") for each in ordered],
        y=[_number(each, "init_alpha") for each in ordered],
        points=True,
        colours=[each.value if math.isfinite(each.value) else None for each in ordered],
    )
    return Panel(
        title=title,
        x="learning rate",
        y="variance of the first weights, α",
        log_x=True,
        log_y=True,
        lines=[line],
    )


def _scale(searches: Sequence[Sequence[Tried]]) -> tuple[float, float]:
    values = [each.value for trials in searches for each in trials if math.isfinite(each.value)]
    return min(values), float(np.quantile(values, LAST_COLOUR))


def _number(trial: Tried, name: str) -> float:
    value = trial.config[name]
    assert isinstance(value, float)  # noqa: S101 - as its dimension is declared
    return value


EXPERIMENT: Final = Experiment(
    name="search-panels",
    title="Two hyperparameters, and where a search looks",
    rows=(10, 11),
    source=f"{SOURCE}, figures 2.2 and 4.1",
    asks="How do the learning rate and the variance of the first weights depend on each other, and where in "
    "their plane do grid, random and biased random search spend their trials?",
    reported="Figure 2.2: *we can clearly see that the plotted hyperparameters are not independent*. Figure "
    "4.1 has a grid, a random and a biased random search side by side, best trials blue and worst yellow, "
    "the biased one dense where the loss is low. No numbers.",
    here={
        size: f"{says} The trials are those of `search-methods`; where that has run, none is trained again."
        for size, says in HERE.items()
    },
    run=run,
    files=list(FILES.values()),
)
