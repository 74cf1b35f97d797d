"""Comparisons as people ask for them: how far each search is, what that took, when it ends."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from app.domain.comparison import Comparison, Line
from app.domain.study import StudyState
from app.lifecycle import register
from app.storage import Transaction, clock, comparisons
from thiessen.comparison import plan
from thiessen.contract import ComparisonSpec, Cost
from thiessen.spelling import nearest

Stage = Literal["searching", "confirming", "done"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A comparison as people ask for it."""

    comparison: Comparison
    spec: ComparisonSpec
    lines: Sequence[Line]
    planned: Cost
    spent: Cost
    share: float  # of all that is to be done
    stage: Stage
    waits_for: str | None
    eta: datetime | None


def progress(tx: Transaction, project: str, name: str) -> Progress:
    """Return the comparison as it stands. Raises ComparisonNotFound."""
    [found] = _progress(tx, project, [comparisons.named(tx, project, name)])
    return found


def page(
    tx: Transaction, project: str, limit: int, *, before: int | None = None, state: StudyState | None = None
) -> list[Progress]:
    """Return the newest comparisons as they stand, those before an id when one is given."""
    return _progress(tx, project, comparisons.page(tx, project, limit, before=before, state=state))


def _progress(tx: Transaction, project: str, found: Sequence[Comparison]) -> list[Progress]:
    lines: dict[int, list[Line]] = defaultdict(list)
    for line in comparisons.lines(tx, [each.id for each in found]):
        lines[line.comparison_id].append(line)
    now, offered = clock.read(tx), register.names(tx, project)
    return [_of(each, lines[each.id], now, offered) for each in found]


def _of(comparison: Comparison, lines: Sequence[Line], now: datetime, offered: set[str]) -> Progress:
    spec = ComparisonSpec.model_validate(comparison.spec)
    planned, spent = plan.cost(spec), spent_of(lines)
    stage = _stage(comparison, lines)
    share = 1.0 if stage == "done" else _share(spec, comparison, lines)
    return Progress(
        comparison=comparison,
        spec=spec,
        lines=lines,
        planned=planned,
        spent=spent,
        share=share,
        stage=stage,
        waits_for=_waits_for(comparison, lines, offered),
        eta=_eta(comparison, lines, share, spent, now),
    )


def spent_of(lines: Sequence[Line]) -> Cost:
    """Return what the studies of a comparison have cost by now."""
    searches = [line for line in lines if line.is_search]
    return Cost(
        searches=len(searches),
        trials=sum(line.finished for line in searches),
        runs=sum(line.finished for line in lines if not line.is_search),
        updates=sum(line.updates for line in lines),
        seconds=sum(line.trained_milliseconds for line in lines) / 1000,
    )


def _stage(comparison: Comparison, lines: Sequence[Line]) -> Stage:
    if comparison.state is StudyState.COMPLETED:
        return "done"
    is_confirming = any(line.around == comparison.around for line in lines)
    return "confirming" if is_confirming else "searching"


def _share(spec: ComparisonSpec, comparison: Comparison, lines: Sequence[Line]) -> float:
    """Return how much of all there is to do has been done, in the unit of the budget.

    What a run that confirms takes is not known before: it is taken to be what a trial takes.
    """
    searches = [line for line in lines if line.is_search]
    most, trials = spec.budget.most, sum(line.finished for line in searches)
    spent = {line.id: _spent(spec, line) for line in searches}
    each = sum(spent.values()) / trials if trials else most
    runs = [line for line in lines if line.around == comparison.around]
    all_runs = sum(line.max_trials for line in runs) or plan.most_runs(spec) * len(spec.arms)
    done = sum(most if line.state is StudyState.COMPLETED else min(spent[line.id], most) for line in searches)
    return min(
        (done + each * sum(line.finished for line in runs)) / (most * len(searches) + each * all_runs), 1.0
    )


def _spent(spec: ComparisonSpec, line: Line) -> float:
    match spec.budget.unit:
        case "trials":
            return line.finished
        case "updates":
            return line.updates
        case _:
            return line.trained_milliseconds / 1000


def _eta(
    comparison: Comparison, lines: Sequence[Line], share: float, spent: Cost, now: datetime
) -> datetime | None:
    """Return when all is done if so many go on to train at once; None when that cannot be said."""
    running = sum(line.running for line in lines)
    if comparison.state is not StudyState.ACTIVE or not running or not share or not spent.seconds:
        return None
    try:
        return now + timedelta(seconds=spent.seconds * (1 - share) / share / running)
    except OverflowError:
        return None  # in thousands of years


def _waits_for(comparison: Comparison, lines: Sequence[Line], offered: set[str]) -> str | None:
    """Say why nothing goes on, or what of it does not; of tasks those are offered that are registered."""
    if comparison.state is StudyState.PAUSED:
        return "It is paused; resume it."
    if comparison.state is not StudyState.ACTIVE or comparison.archived_at is not None:
        return None
    left = [line for line in lines if line.state is not StudyState.COMPLETED]
    left = [line for line in left if line.around in {None, comparison.around}]
    held_up = [line for line in left if line.state is not StudyState.ACTIVE]
    if held_up:
        others = f" and {len(held_up) - 1} more" if len(held_up) > 1 else ""
        return (
            f"Study {held_up[0].name} is {held_up[0].state}{others}; nothing is complete before it goes on. "
            "Resume the comparison."
        )
    if not left or any(line.running for line in left):
        return None
    unknown = sorted({line.task for line in left} - offered)
    if unknown:
        return f"No worker has registered task {unknown[0]!r} yet; {nearest(unknown[0], offered)}."
    return f"No worker has asked for task {left[0].task!r} since; see GET /api/v1/tasks."
