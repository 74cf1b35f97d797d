"""What trials of open studies asked for: of each such observation its config and its news, never changed."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import insert, select

from app.domain.study import StudyId
from app.storage.store import Transaction
from app.storage.tables import asked
from thiessen.space import AskedFor, OpenSpace


def append(tx: Transaction, study_id: StudyId, seq: int, told: AskedFor, space: OpenSpace | None) -> None:
    """Append what a trial asked for with its observation, and the space after it where that has changed."""
    written = None if space is None else {"dimensions": space.to_json(), "always": sorted(space.always or ())}
    tx.execute(insert(asked).values(study_id=study_id, seq=seq, space=written, **told.to_json()))


def space(tx: Transaction, study_id: StudyId, last: int | None = None) -> OpenSpace:
    """Return an open space as it was after an observation, or is by now."""
    statement = select(asked.c.space).where(asked.c.study_id == study_id, asked.c.space.is_not(None))
    if last is not None:
        statement = statement.where(asked.c.seq <= last)
    found: dict[str, Any] | None = tx.execute(statement.order_by(asked.c.seq.desc()).limit(1)).scalar()
    if found is None:
        return OpenSpace()
    return OpenSpace(OpenSpace.from_json(found["dimensions"]).dimensions, found["always"])


def since(tx: Transaction, study_id: StudyId, after: int, last: int) -> Iterator[tuple[int, AskedFor]]:
    """Return what was asked for with the observations numbered after `after`, up to `last`, in order."""
    statement = (
        select(asked.c.seq, asked.c.config, asked.c.dimensions)
        .where(asked.c.study_id == study_id, asked.c.seq > after, asked.c.seq <= last)
        .order_by(asked.c.seq)
    )
    for seq, config, dimensions in tx.execute(statement):
        yield seq, AskedFor.from_json({"config": config, "dimensions": dimensions})
