"""The events of a study, as those who follow it read them."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Row, select

from app.domain.event import Event
from app.domain.study import StudyId
from app.storage.store import Transaction
from app.storage.tables import events, studies


def page(tx: Transaction, study_id: StudyId, *, after: int, limit: int) -> list[Event]:
    """Return the events after that number, in order."""
    statement = (
        select(events)
        .where(events.c.study_id == study_id, events.c.seq > after)
        .order_by(events.c.seq)
        .limit(limit)
    )
    return [event(row) for row in tx.execute(statement)]


def last(tx: Transaction, study_ids: Collection[StudyId]) -> dict[StudyId, int]:
    """Return the number of the last event of each study that exists."""
    statement = select(studies.c.id, studies.c.events).where(studies.c.id.in_(study_ids))
    return {StudyId(row.id): row.events for row in tx.execute(statement)}


def event(row: Row[Any]) -> Event:
    """Return the event of a row."""
    return Event(
        seq=row.seq,
        at=row.at,
        who=row.who,
        kind=row.kind,
        trial=row.trial,
        attempt=row.attempt,
        before=row.before,
        after=row.after,
        cause=row.cause,
        data=row.data,
    )
