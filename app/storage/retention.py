"""What is not kept for ever of studies that rest: their events and learning curves, some rows at a time."""

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, select, update

from app.domain.study import StudyId
from app.storage.store import Transaction
from app.storage.tables import events, later, reports, studies, trials

MOST: Final = 1000  # events, or trials with their curves, removed in one step

_RESTS_SINCE: Final = func.coalesce(studies.c.completed_at, studies.c.archived_at)


def with_old_events(tx: Transaction, kept_for: timedelta) -> list[StudyId]:
    """Return the studies that have rested for so long, and have events still."""
    return _with_old(tx, kept_for, studies.c.events_removed < studies.c.events)


def with_old_curves(tx: Transaction, kept_for: timedelta) -> list[StudyId]:
    """Return the studies that have rested for so long, and whose curves may be there still."""
    return _with_old(tx, kept_for, studies.c.curves_removed < studies.c.trials)


def remove_events(tx: Transaction, study_id: StudyId, kept_for: timedelta) -> bool:
    """Remove the oldest events of a study that rests; say whether there are more."""
    row = _locked(tx, study_id, kept_for)
    if row is None:
        return False
    last = min(row.events_removed + MOST, row.events)
    tx.execute(delete(events).where(events.c.study_id == study_id, events.c.seq <= last))
    tx.execute(update(studies).where(studies.c.id == study_id).values(events_removed=last))
    return bool(last < row.events)


def remove_curves(tx: Transaction, study_id: StudyId, kept_for: timedelta) -> bool:
    """Remove the learning curves of the first trials of a study that rests; say whether there are more."""
    row = _locked(tx, study_id, kept_for)
    if row is None:
        return False
    end = min(row.curves_removed + MOST, row.trials)
    of = select(trials.c.id).where(
        trials.c.study_id == study_id, trials.c.number >= row.curves_removed, trials.c.number < end
    )
    tx.execute(delete(reports).where(reports.c.trial_id.in_(of)))
    tx.execute(update(studies).where(studies.c.id == study_id).values(curves_removed=end))
    return bool(end < row.trials)


def removed(tx: Transaction, study_id: StudyId) -> int:
    """Return the number of the last event of a study that is not kept any more, 0 if all are."""
    return int(tx.execute(select(studies.c.events_removed).where(studies.c.id == study_id)).scalar_one())


def _with_old(tx: Transaction, kept_for: timedelta, some: ColumnElement[bool]) -> list[StudyId]:
    statement = select(studies.c.id).where(later(-kept_for) >= _RESTS_SINCE, some).order_by(studies.c.id)
    return [StudyId(study_id) for study_id in tx.execute(statement).scalars()]


def _locked(tx: Transaction, study_id: StudyId, kept_for: timedelta) -> Any:
    """Hold the study's row until the commit; None if it goes on again, or is gone."""
    statement = select(studies).where(studies.c.id == study_id, later(-kept_for) >= _RESTS_SINCE)
    return tx.execute(statement.with_for_update()).one_or_none()
