"""One study: how far it is, its best config, its figures and its trials."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.dashboard.actions import Action
from app.dashboard.summaries.lines import ENDS, StudyLine, study_line
from app.dashboard.summaries.study_actions import study_actions
from app.dashboard.values import MANY_DIMENSIONS, brief
from app.domain.listing import Listing, Sort
from app.domain.study import Progress, StudyState
from app.domain.trial import Origin, TrialLine, TrialState
from app.house import House
from app.lifecycle import browse, submit
from thiessen.figures.text import short

MOST_TRIALS: Final = 12  # in a page of their table


@dataclass(frozen=True)
class Row:
    """One trial in a table."""

    number: int
    state: str
    value: str
    exact: str
    config: list[str]
    finished_at: datetime | None
    why: str


@dataclass(frozen=True)
class StudyPage:
    """One study: how far it is, its best config, which figures it has, and its newest trials."""

    study: StudyLine
    says: str
    notes: str
    tags: list[str]
    dimensions: list[str]
    columns: list[str]  # the dimensions that the table has room for
    figures: list[str]
    chosen: Mapping[str, str]
    rows: list[Row]
    state: str | None
    next: str | None
    is_first: bool
    is_live: bool
    after: int  # the number of the last event that this shows
    actions: list[Action]


def read_study(
    house: House,
    project: str,
    name: str,
    *,
    state: TrialState | None,
    cursor: str | None,
    chosen: Mapping[str, str | None],
) -> StudyPage:
    """Return a study with a page of its trials, the newest first. Raises StudyNotFound, InvalidRequest."""
    progress, (found, following) = house.store.read(
        lambda tx: (
            submit.progress(tx, project, name),
            browse.page(
                tx,
                project,
                name,
                Listing(sort=Sort.NUMBER_DOWN, state=state),
                cursor=cursor,
                limit=MOST_TRIALS,
            ),
        )
    )
    line, remarks = study_line(progress), progress.study.remarks
    dimensions = list(progress.space.dimensions)
    columns = dimensions[:MANY_DIMENSIONS]
    return StudyPage(
        study=line,
        says=f"Task {line.task}, searched by {line.strategy}, seed {progress.study.spec.seed}.",
        notes=remarks.notes,
        tags=list(remarks.tags),
        dimensions=dimensions,
        columns=columns,
        figures=_figures(progress),
        chosen={key: value for key, value in chosen.items() if value},
        rows=[_row(each, columns, line.waits_for) for each in found],
        state=state,
        next=following,
        is_first=cursor is None,
        is_live=progress.study.standing.state is StudyState.ACTIVE or line.running > 0,
        after=progress.study.standing.events,
        actions=study_actions(progress.study),
    )


def _figures(progress: Progress) -> list[str]:
    """Return the figures that have something to show."""
    if not any(progress.counts[state] for state in ENDS):
        return []
    pairs = ["landscape", "parallel"] if len(progress.space.dimensions) > 1 else []
    return ["history", "slice", "importance", "curves", "timeline", *pairs]


def _row(line: TrialLine, columns: Iterable[str], waits_for: str | None) -> Row:
    return Row(
        number=line.number,
        state=line.state,
        value=short(line.value),
        exact="" if line.value is None else str(line.value),
        config=[brief(line.config[name]) if name in line.config else "" for name in columns],
        finished_at=line.finished_at,
        why=_why(line, waits_for),
    )


def _why(line: TrialLine, waits_for: str | None) -> str:
    """Return in a line why a trial is where it is."""
    cause = "" if line.cause is None else line.cause.replace("_", " ")
    match line.state:
        case TrialState.QUEUED if cause:
            return f"again after {cause}"
        case TrialState.QUEUED:
            return waits_for or "waits for a free slot"
        case TrialState.RUNNING:
            return f"attempt {line.attempts}" + (f" after {cause}" if cause else "")
        case TrialState.PRUNED:
            return "behind the others at the same step"
        case TrialState.DIVERGED:
            return "its loss is not finite"
    said = [cause] if cause else []
    said += [line.origin] if line.origin is not Origin.PROPOSED else []
    said += [f"attempt {line.attempts}"] if line.attempts > 1 else []
    return ", ".join(said)
