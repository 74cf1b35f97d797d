"""Whole trials, so many at once: what an export reads."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select

from app.domain.study import StudyId
from app.domain.trial import Attempt, Origin, TrialState
from app.storage.attempts import attempt_of_row
from app.storage.store import Transaction
from app.storage.tables import attempts, reports, trials
from thiessen.space import Config


@dataclass(frozen=True, slots=True)
class Row:
    """A trial as it is stored."""

    number: int
    origin: Origin
    turn: int | None
    watermark: int | None
    config: Config
    start: Config | None  # what it began with, where the space is open
    seed: int
    reasons: dict[str, Any]
    state: TrialState
    attempts: int
    notes: str
    attributes: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None


_ROW: Final = [trials.c[field.name] for field in fields(Row)]


def rows(tx: Transaction, study_id: StudyId, begin: int, end: int) -> list[Row]:
    """Return the trials numbered from `begin` on and below `end`, in order."""
    statement = select(*_ROW).where(*_between(study_id, begin, end)).order_by(trials.c.number)
    return [
        Row(**{**row, "origin": Origin(row["origin"]), "state": TrialState(row["state"])})
        for row in tx.execute(statement).mappings()
    ]


def attempts_of(tx: Transaction, study_id: StudyId, begin: int, end: int) -> dict[int, list[Attempt]]:
    """Return the attempts of these trials with their learning curves, by number of the trial."""
    between = _between(study_id, begin, end)
    batches = (
        select(reports.c.trial_id, reports.c.attempt, reports.c.points)
        .join(trials, trials.c.id == reports.c.trial_id)
        .where(*between)
        .order_by(reports.c.trial_id, reports.c.attempt, reports.c.first_step)
    )
    curves: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for trial_id, attempt, points in tx.execute(batches):
        curves.setdefault((trial_id, attempt), []).extend(points)
    statement = (
        select(attempts, trials.c.number.label("trial"))
        .join(trials, trials.c.id == attempts.c.trial_id)
        .where(*between)
        .order_by(trials.c.number, attempts.c.number)
    )
    found: dict[int, list[Attempt]] = {}
    for row in tx.execute(statement):
        curve = curves.get((row.trial_id, row.number), ())
        found.setdefault(row.trial, []).append(attempt_of_row(row, curve))
    return found


def watermark_of(tx: Transaction, study_id: StudyId, end: int) -> int:
    """Return the last observation that the proposals numbered below `end` knew: watermarks never fall."""
    statement = (
        select(trials.c.watermark)
        .where(trials.c.study_id == study_id, trials.c.number < end, trials.c.watermark.is_not(None))
        .order_by(trials.c.number.desc())
        .limit(1)
    )
    return tx.execute(statement).scalar_one_or_none() or 0


def _between(study_id: StudyId, begin: int, end: int) -> Iterable[Any]:
    return trials.c.study_id == study_id, trials.c.number >= begin, trials.c.number < end
