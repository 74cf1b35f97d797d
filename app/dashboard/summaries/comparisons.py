"""Comparisons as a list: how far each is, and what can be said of it in a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.dashboard.values import many
from app.domain.study import StudyState
from app.house import House
from app.lifecycle import comparison_progress
from app.lifecycle.comparison_progress import Progress
from app.storage import Transaction, projects
from thiessen.contract import ComparisonReport
from thiessen.contract.comparisons import Unit
from thiessen.figures.text import short

MOST_LISTED: Final = 20  # of a page: a report is computed for each that has none yet


@dataclass(frozen=True)
class ComparisonLine:
    """A comparison in a list."""

    name: str
    task: str
    state: str
    stage: str
    is_moving: bool
    arms: list[str]
    effort: str  # what it consists of, in words
    percent: float
    told: str  # how far it is, in words
    waits_for: str | None
    eta: datetime | None
    says: str  # its verdict, in a sentence


@dataclass(frozen=True)
class ComparisonList:
    """A page of comparisons, newest first."""

    says: str
    lines: list[ComparisonLine]
    state: str  # that is asked for
    older: int | None  # the place that the next page begins after
    is_live: bool


def read_page(
    tx: Transaction, project: str, state: StudyState | None, before: int | None
) -> tuple[list[Progress], int | None]:
    """Return the newest comparisons, and where older ones begin. Raises ProjectNotFound."""
    projects.named(tx, project)
    found = comparison_progress.page(tx, project, MOST_LISTED + 1, before=before, state=state)
    shown = found[:MOST_LISTED]
    return shown, shown[-1].comparison.id if len(found) > MOST_LISTED else None


async def read_comparisons(
    house: House, project: str, state: StudyState | None = None, before: int | None = None
) -> ComparisonList:
    """Return the comparisons of a project, each with its verdict. Raises ProjectNotFound."""
    found, older = await house.store.seen(lambda tx: read_page(tx, project, state, before))
    lines = [line(each, await _verdict(house, each)) for each in found]
    moving = sum(each.is_moving for each in lines)
    verb = "goes" if moving == 1 else "go"
    return ComparisonList(
        says=f"{many(moving, 'comparison')} {verb} on." if moving else "No comparison goes on.",
        lines=lines,
        state="" if state is None else state.value,
        older=older,
        is_live=bool(moving),
    )


async def _verdict(house: House, of: Progress) -> str:
    """Return the verdict of a comparison that is complete; of others it is not computed for a list."""
    if of.stage != "done":
        return ""
    report, _ = await house.reports.report(house.store, of.comparison.project, of.comparison.name)
    return verdict(report)


def verdict(report: ComparisonReport) -> str:
    """Return in a sentence what came of it."""
    return report.says[0]


def line(found: Progress, says: str = "") -> ComparisonLine:
    """Return a comparison as a line of a list."""
    comparison, spec = found.comparison, found.spec
    return ComparisonLine(
        name=comparison.name,
        task=spec.task,
        state=comparison.state.value,
        stage=found.stage,
        is_moving=comparison.state is StudyState.ACTIVE and comparison.archived_at is None,
        arms=[arm.label for arm in spec.arms],
        effort=effort(found),
        percent=round(100 * found.share, 1),
        told=_told(found),
        waits_for=found.waits_for,
        eta=found.eta,
        says=says,
    )


def effort(found: Progress) -> str:
    """Return in words what a comparison consists of."""
    spec = found.spec
    most = spent(spec.budget.most, spec.budget.unit)
    told = f"{many(len(spec.arms), 'arm')}, {searches(spec.replicates)} of {most} each"
    if spec.confirm is None:
        return f"{told}, nothing confirmed"
    configs = (
        "the best config of each" if spec.confirm.configs is None else f"the best {spec.confirm.configs}"
    )
    return f"{told}, {configs} confirmed {many(spec.confirm.seeds, 'time')}"


def spent(most: float, unit: Unit) -> str:
    """Return so much of a budget: 1 trial, 12,000 updates."""
    return f"{most:,.6g} {unit if most != 1 else unit.removesuffix('s')}"


def searches(count: int) -> str:
    """Return how many there are: 1 search, 12 searches."""
    return f"{count:,} search" if count == 1 else f"{count:,} searches"


def _told(found: Progress) -> str:
    """Return how far it is: the searches that ended, then the runs."""
    of_searches = [each for each in found.lines if each.is_search]
    ended = sum(each.state is StudyState.COMPLETED for each in of_searches)
    told = f"{ended} of {searches(len(of_searches))} ended"
    if found.planned.runs:
        told += f", {found.spent.runs} of {many(found.planned.runs, 'run')} trained"
    return told


def costs(cost: Mapping[str, float | None]) -> list[tuple[str, str]]:
    """Return what a comparison costs, a line each; what cannot be known is left out."""
    words: Sequence[tuple[str, str]] = (
        ("searches", "searches"),
        ("trials", "trials of searches"),
        ("runs", "runs that confirm"),
        ("updates", "updates"),
        ("seconds", "seconds of training"),
    )
    return [
        (told, f"{value:,.0f}" if value >= 1000 or value == int(value) else short(value))
        for name, told in words
        if (value := cost[name]) is not None
    ]
