"""A comparison: its verdicts, whether it is fair, its figures, its table, and its searches."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final
from urllib.parse import urlencode

from app.dashboard.actions import Action
from app.dashboard.summaries.comparison_actions import comparison_actions
from app.dashboard.summaries.comparisons import ComparisonLine, costs, line, spent, verdict
from app.dashboard.values import Shown, shown
from app.domain.comparison import Line
from app.domain.study import StudyState
from app.house import House
from app.lifecycle import comparison_progress
from app.lifecycle.comparison_progress import Progress
from thiessen.comparison import plan
from thiessen.contract import ArmReport, Check, ComparisonReport, ComparisonSpec, Headline, Pair
from thiessen.figures.interaction import ACROSS, MOST_PANELS
from thiessen.figures.text import short
from thiessen.figures.training import MOST_METRICS

UNKNOWN: Final = short(None)
MOST_LEADING: Final = 4  # verdicts that stand by themselves; the others are folded


@dataclass(frozen=True)
class Row:
    """An arm in the table for the paper."""

    label: str
    strategy: str
    confirmed: str
    confirmed_interval: str
    runs: str
    searched: str
    searched_interval: str
    spent_to_match: str
    near: str
    diverged: str
    is_best: bool
    best: Shown | None  # the config that was confirmed as the best
    found: str  # by which trial; a path
    found_by: str


@dataclass(frozen=True)
class Cell:
    """A search, or what confirms."""

    study: str
    state: str
    finished: int
    best: str


@dataclass(frozen=True)
class ComparisonPage:
    """A comparison."""

    line: ComparisonLine
    says: str
    notes: str
    tags: Sequence[str]
    direction: str
    unit: str
    planned: list[tuple[str, str]]
    spent: list[tuple[str, str]]
    verdicts: list[Pair]
    others: list[Pair]
    checks: list[Check]
    has_ended_trials: bool
    metrics: int  # of the figure of how the best config trains
    looked: str  # the query of the figure that shows where each arm looked; empty where spaces differ
    looked_at: str  # which searches
    rows: int  # of its panels
    room: str  # the class that keeps the room of the figures with as many arms
    table: list[Row]
    searches: list[tuple[str, list[Cell | None]]]
    is_live: bool
    actions: list[Action]


async def read_comparison(house: House, project: str, name: str) -> ComparisonPage:
    """Return a comparison as it stands. Raises ComparisonNotFound."""
    found: Progress = await house.store.seen(lambda tx: comparison_progress.progress(tx, project, name))
    report, _ = await house.reports.report(house.store, project, name)
    return await asyncio.to_thread(page_of, found, report)


def page_of(found: Progress, report: ComparisonReport) -> ComparisonPage:
    """Return the page of a comparison and its report."""
    comparison, spec = found.comparison, found.spec
    looked = _looked(spec, report)
    says = " ".join(report.says) or verdict(report)
    return ComparisonPage(
        line=line(found),
        says=says,
        notes=comparison.notes,
        tags=comparison.tags,
        direction="smaller" if spec.direction == "minimize" else "larger",
        unit=spec.budget.unit,
        planned=costs(found.planned.model_dump()),
        spent=costs(found.spent.model_dump()),
        verdicts=report.pairs[:MOST_LEADING],
        others=report.pairs[MOST_LEADING:],
        checks=report.checks,
        has_ended_trials=any(arm.searches for arm in report.arms),
        metrics=min(len({each.metric for arm in report.arms for each in arm.training}), MOST_METRICS),
        looked=urlencode(looked),
        looked_at=", ".join(value for key, value in looked if key == "study"),
        rows=-(-sum(key == "study" for key, _ in looked) // ACROSS),
        room=f"arms-{len(spec.arms)}",
        table=_table(report),
        searches=_searches(spec, found.lines),
        is_live=comparison.state is StudyState.ACTIVE and comparison.archived_at is None,
        actions=comparison_actions(comparison, spec),
    )


def _looked(spec: ComparisonSpec, report: ComparisonReport) -> list[tuple[str, str]]:
    """Return what is asked of the figure that shows where arms looked: their median searches.

    They need two dimensions that all arms declare alike.
    """
    arms = [arm for arm in report.arms if any(each.final is not None for each in arm.searches)]
    shared = _shared(spec)
    if len(arms) < 2 or len(arms) < len(report.arms) or len(shared) < 2 or len(arms) > MOST_PANELS:
        return []
    return [("study", _median(arm)) for arm in arms] + [("x", shared[0]), ("y", shared[1])]


def _shared(spec: ComparisonSpec) -> list[str]:
    """Return the dimensions that every arm searches, and declares alike."""
    declared = [{**spec.space, **arm.space} for arm in spec.arms]
    searched = [plan.dimensions(spec, arm) for arm in spec.arms]
    return [
        name
        for name in searched[0]
        if all(name in names for names in searched)
        and all(each[name] == declared[0][name] for each in declared)
    ]


def _median(arm: ArmReport) -> str:
    """Return the search that ends in the middle of those that have a value."""
    ends = {each.study: each.final for each in arm.searches if each.final is not None}
    middle = median_low(ends.values())
    return next(study for study, end in ends.items() if end == middle)


def _table(report: ComparisonReport) -> list[Row]:
    best = _best(report)
    return [_row(arm, report, is_best=arm is best) for arm in report.arms]


def _best(report: ComparisonReport) -> ArmReport | None:
    """Return the arm whose confirmed mean is the best, None where two are equal or one is missing."""
    sign = 1.0 if report.direction == "minimize" else -1.0
    known = sorted(
        (sign * arm.headline.mean, at)
        for at, arm in enumerate(report.arms)
        if arm.headline is not None and arm.headline.mean is not None
    )
    if len(known) < len(report.arms) or known[0][0] == known[1][0]:
        return None
    return report.arms[known[0][1]]


def _row(arm: ArmReport, report: ComparisonReport, *, is_best: bool) -> Row:
    headline, match, first = arm.headline, arm.spent_to_match, arm.confirmed[0] if arm.confirmed else None
    study = None if first is None else _study(arm, first.replicate)
    return Row(
        label=arm.label,
        strategy=arm.strategy,
        confirmed=_mean(headline),
        confirmed_interval=_interval(headline),
        runs=UNKNOWN if headline is None else _runs(headline),
        searched=_mean(arm.final),
        searched_interval=_interval(arm.final),
        spent_to_match=UNKNOWN if match is None else spent(match, report.unit),
        near=_share(arm.sensitivity.share),
        diverged=_share(arm.sensitivity.diverged),
        is_best=is_best,
        best=None if first is None else shown(arm.dimensions, first.config),
        found="" if first is None or study is None else f"studies/{study}/trials/{first.trial}",
        found_by="" if first is None else f"trial {first.trial} of replicate {first.replicate}",
    )


def _study(arm: ArmReport, replicate: int) -> str | None:
    return next((each.study for each in arm.searches if each.replicate == replicate), None)


def _mean(of: Headline | None) -> str:
    if of is None or of.mean is None:
        return UNKNOWN
    return short(of.mean) if of.deviation is None else f"{short(of.mean)} ± {short(of.deviation)}"


def _interval(of: Headline | None) -> str:
    if of is None or of.low is None or of.high is None:
        return UNKNOWN
    return f"{short(of.low)} to {short(of.high)}"


def _runs(of: Headline) -> str:
    return f"{of.runs}, {of.diverged} diverged" if of.diverged else f"{of.runs}"


def _share(share: float | None) -> str:
    if share is None:
        return UNKNOWN
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def _searches(spec: ComparisonSpec, lines: Sequence[Line]) -> list[tuple[str, list[Cell | None]]]:
    """Return the studies: a row for each replicate and for what confirms, a cell for each arm."""
    by_place: Mapping[tuple[str, int | None, int | None], Line] = {
        (each.arm, each.replicate, each.around): each for each in lines
    }
    replicates = sorted({each.replicate for each in lines if each.replicate is not None})
    rounds = sorted({each.around for each in lines if each.around is not None})
    sign = 1.0 if spec.direction == "minimize" else -1.0

    def row(replicate: int | None, around: int | None) -> list[Cell | None]:
        found = [by_place.get((arm.label, replicate, around)) for arm in spec.arms]
        return [None if each is None else _cell(each, sign) for each in found]

    return [
        *((f"{replicate}", row(replicate, None)) for replicate in replicates),
        *(("confirms" if around == 1 else f"confirms, {around}", row(None, around)) for around in rounds),
    ]


def _cell(found: Line, sign: float) -> Cell:
    best = None if found.best is None else sign * found.best
    return Cell(study=found.name, state=found.state.value, finished=found.finished, best=short(best))
