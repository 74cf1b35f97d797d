"""The report of a comparison: what was found, and what can be said of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from thiessen.comparison import bands, confirmations, fairness, training
from thiessen.comparison.confirmations import Again
from thiessen.comparison.fairness import Evidence
from thiessen.comparison.incumbents import Incumbent, incumbent
from thiessen.comparison.order_statistics import expected_best
from thiessen.comparison.searched import ArmFound, Run, Search
from thiessen.comparison.sensitivity import sensitivities, trials_of
from thiessen.comparison.values import computed, known, line, listed, unknown, value
from thiessen.comparison.verdicts import Ground, verdicts
from thiessen.contract import (
    ArmReport,
    Band,
    Check,
    ComparisonReport,
    ComparisonSpec,
    Confirmed,
    Cost,
    Headline,
    Pair,
    Reached,
    Searched,
    Sensitivity,
)
from thiessen.contract.words import StudyState
from thiessen.elementwise import Array

MOST_POINTS: Final = 200  # of a line


def report(
    spec: ComparisonSpec, arms: Sequence[ArmFound], *, project: str, state: StudyState, is_complete: bool
) -> ComparisonReport:
    """Return what came of a comparison, so far as it is. Every arm is given, in the order of the spec."""
    with np.errstate(over="ignore", invalid="ignore"):  # what becomes too large is as good as infinite
        found = [_Found(spec, arm, is_complete=is_complete) for arm in arms]
        checks = fairness.checks(spec, [each.evidence for each in found])
        pairs = _pairs(spec, found, checks)
        expected = [each.expected for each in found]
        match = _worst_end(spec, expected)
        target = _Target.of(spec, found)
        spread = sensitivities(arms, spec.within)
        return ComparisonReport(
            name=spec.name,
            project=project,
            state=state,
            is_complete=is_complete,
            direction=spec.direction,
            unit=spec.budget.unit,
            budget=spec.budget.most,
            replicates=spec.replicates,
            spent=_spent(arms),
            checks=checks,
            pairs=pairs,
            says=_says(pairs, checks, is_complete=is_complete),
            arms=[
                _arm(each, band, _spent_to_match(spec, band, match), target, sensitivity)
                for each, band, sensitivity in zip(found, expected, spread, strict=True)
            ],
        )


@dataclass(frozen=True)
class _Found:
    """An arm, with what its searches and runs come to."""

    spec: ComparisonSpec
    arm: ArmFound
    is_complete: bool

    @cached_property
    def incumbents(self) -> dict[int, Incumbent]:
        unit, most = self.spec.budget.unit, self.spec.budget.most
        return {search.replicate: incumbent(search, unit, most) for search in self.arm.searches}

    @cached_property
    def ended(self) -> dict[int, Incumbent]:
        """The searches that have come to their end."""
        most = self.spec.budget.most
        return {at: each for at, each in self.incumbents.items() if self.is_complete or each.total >= most}

    @cached_property
    def again(self) -> list[Again]:
        return confirmations.again(self.arm.runs)

    @cached_property
    def evidence(self) -> Evidence:
        lacking = confirmations.missing(self.again, self.incumbents, self.spec.confirm)
        return Evidence(arm=self.arm, incumbents=self.incumbents, unconfirmed=lacking)

    @cached_property
    def chosen(self) -> Sequence[Run]:
        """The runs of the config that the searches prefer."""
        return self.again[0].runs if self.again else ()

    @cached_property
    def expected(self) -> Band:
        """The mean over the searches of the best so far, up to where all that began have come."""
        begun = [each for each in self.incumbents.values() if each.total > 0]
        most = self.spec.budget.most
        end = most if self.is_complete else min([each.total for each in begun] or [0.0])
        at = _grid(self.spec)
        at = at[at <= end] if begun else at[:0]
        table = np.array([each.at(at) for each in begun]).reshape(len(begun), len(at))
        return line(at, bands.mean(table), bands.band(table), self.spec.direction)


@dataclass(frozen=True)
class _Target:
    """What a training is to reach."""

    metric: str
    value: float

    @classmethod
    def of(cls, spec: ComparisonSpec, found: Sequence[_Found]) -> "_Target | None":
        """Return what is wanted, or else where the worst arm ends; none where no curve says so."""
        runs = [each.chosen for each in found]
        metric = spec.metric or training.usual_metric(runs)
        if metric is None:
            return None
        wanted = spec.target
        if wanted is None:
            wanted = training.worst_end(runs, metric, spec.direction)
        return None if wanted is None else cls(metric, wanted)


def _grid(spec: ComparisonSpec) -> Array:
    """Return where the lines have points, in the unit of the budget."""
    most = spec.budget.most
    if spec.budget.unit == "seconds":
        return np.linspace(most / MOST_POINTS, most, MOST_POINTS)
    return np.unique(np.linspace(1, most, min(int(most), MOST_POINTS)).round())


def _pairs(spec: ComparisonSpec, found: Sequence[_Found], checks: Sequence[Check]) -> list[Pair]:
    """Return the verdicts: from fresh runs where the best of every search has its, else from the searches."""
    is_confirmed = all(not each.evidence.unconfirmed for each in found) and any(each.again for each in found)
    losses = {
        each.arm.label: confirmations.losses(each.again, each.ended)
        if is_confirmed
        else {replicate: incumbent.final for replicate, incumbent in each.ended.items()}
        for each in found
    }
    ground = Ground(
        basis="confirmed" if is_confirmed else "searched",
        direction=spec.direction,
        caveats=[check.told for check in checks if not check.is_met],
    )
    return verdicts(losses, ground)


def _arm(
    found: _Found, expected: Band, match: float | None, target: _Target | None, sensitivity: Sensitivity
) -> ArmReport:
    spec, arm = found.spec, found.arm
    finals = np.array([each.final for each in found.ended.values()], dtype=float)
    return ArmReport(
        label=arm.label,
        task=arm.task,
        strategy=arm.strategy,
        settings=dict(arm.settings),
        dimensions=list(arm.dimensions),
        searches=[_searched(spec, search, found.incumbents[search.replicate]) for search in arm.searches],
        expected=expected,
        order_statistic=_order_statistic(spec, arm),
        spent_to_match=match,
        final=_headline(spec, finals, finals, is_sample=True),
        confirmed=[_confirmed(spec, each) for each in found.again],
        headline=_confirmed_headline(found),
        sensitivity=sensitivity,
        training=training.trainings(found.chosen),
        best_by=training.best_by(found.again, spec.direction),
        reached=_reached(found, target),
    )


def _searched(spec: ComparisonSpec, search: Search, best: Incumbent) -> Searched:
    sign = 1.0 if spec.direction == "minimize" else -1.0
    return Searched(
        replicate=search.replicate,
        study=search.study,
        trials=len(search.trials),
        updates=sum(trial.updates for trial in search.trials),
        seconds=math.fsum(trial.seconds for trial in search.trials),
        diverged=sum(trial.state == "diverged" for trial in search.trials),
        failed=sum(trial.state == "failed" for trial in search.trials),
        spent=best.spent.tolist(),
        best=(sign * best.best).tolist(),
        final=value(best.final, spec.direction),
        trial=best.trial,
    )


def _confirmed(spec: ComparisonSpec, again: Again) -> Confirmed:
    return Confirmed(
        replicate=again.replicate,
        trial=again.trial,
        config=dict(again.runs[0].config),
        searched=value(again.searched, spec.direction) or 0.0,
        values=[value(run.loss, spec.direction) for run in again.runs],
        mean=value(again.loss, spec.direction),
    )


def _confirmed_headline(found: _Found) -> Headline | None:
    """Return what the best configs of the searches come to, one of each search."""
    best = confirmations.of_each_search(found.again)
    if not best:
        return None
    runs = np.array([run.loss for each in best.values() for run in each.runs], dtype=float)
    means = np.array(list(confirmations.losses(found.again, found.ended).values()), dtype=float)
    return _headline(found.spec, means, runs, is_sample=not found.evidence.unconfirmed)


def _headline(spec: ComparisonSpec, means: Array, runs: Array, *, is_sample: bool) -> Headline:
    """Return the mean of one loss of each search, with its interval if none of the searches was chosen."""
    table = means.reshape(-1, 1)
    low, high = bands.band(table) if is_sample else unknown(np.zeros(1))
    band = line(np.zeros(1), bands.mean(table), (low, high), spec.direction)
    deviation = float(runs.std(ddof=1)) if len(runs) > 1 else math.nan
    return Headline(
        mean=band.mean[0],
        deviation=known(computed(deviation)),
        low=band.low[0],
        high=band.high[0],
        runs=len(runs),
        diverged=int(np.isinf(runs).sum()),
    )


def _order_statistic(spec: ComparisonSpec, arm: ArmFound) -> Band | None:
    """Return the expected best of so many random trials, out of all that were made."""
    losses = np.array([trial.loss for trial in trials_of(arm)], dtype=float)
    if not arm.is_random or spec.budget.unit != "trials" or not len(losses):
        return None
    at = _grid(spec)
    at = at[at <= len(losses)]
    return line(at, expected_best(losses, at.astype(int).tolist()), unknown(at), spec.direction)


def _worst_end(spec: ComparisonSpec, expected: Sequence[Band]) -> float | None:
    """Return the mean of the worst arm when all budgets are spent."""
    if any(not band.at or band.at[-1] < spec.budget.most for band in expected):
        return None
    ends = [band.mean[-1] for band in expected if band.mean[-1] is not None]
    return (max if spec.direction == "minimize" else min)(ends, default=None)


def _spent_to_match(spec: ComparisonSpec, expected: Band, match: float | None) -> float | None:
    if match is None:
        return None
    sign = 1.0 if spec.direction == "minimize" else -1.0
    means = zip(expected.at, expected.mean, strict=True)
    return next((at for at, mean in means if mean is not None and sign * mean <= sign * match), None)


def _reached(found: _Found, target: _Target | None) -> Reached | None:
    if target is None or not found.chosen:
        return None
    return training.reached(found.chosen, target.metric, target.value, found.spec.direction)


def _spent(arms: Sequence[ArmFound]) -> Cost:
    """Return what searches and runs have cost, as far as trials and curves tell."""
    trials = [trial for arm in arms for trial in trials_of(arm)]
    runs = [run for arm in arms for run in arm.runs]
    updates = [max(run.points.get("step", ()), default=0) for run in runs]
    seconds = [max(run.points.get("seconds", ()), default=0.0) for run in runs]
    return Cost(
        searches=sum(len(arm.searches) for arm in arms),
        trials=len(trials),
        runs=len(runs),
        updates=sum(trial.updates for trial in trials) + sum(int(each) for each in updates),
        seconds=math.fsum([trial.seconds for trial in trials] + seconds),
    )


def _says(pairs: Sequence[Pair], checks: Sequence[Check], *, is_complete: bool) -> list[str]:
    """Return the whole in a few sentences."""
    says = [] if is_complete else ["The comparison is not complete: what is told here may change."]
    shown = [pair for pair in pairs if pair.verdict == "shown"]
    beaten = {pair.better: [each.worse for each in shown if each.better == pair.better] for pair in shown}
    says += [f"{better} beats {listed(worse)} at this budget." for better, worse in beaten.items()]
    if not pairs:
        says.append(f"No verdict: it takes {bands.FEWEST} replicates that every arm has finished.")
    elif not shown:
        says.append("No arm is shown to be better than another at this budget.")
    if unmet := [check.name for check in checks if not check.is_met]:
        says.append(f"Not fair in all: {listed(unmet)}.")
    return says
