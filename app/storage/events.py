"""Events: everything that happens to a study and its trials, numbered in the study, and never changed."""

from dataclasses import dataclass, fields
from typing import Any, Final

from sqlalchemy import insert

from app.domain.study import StudyId
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.tables import events, now


@dataclass(frozen=True, kw_only=True)
class Happening:
    """What an event tells."""

    kind: str
    who: str
    trial: int | None = None
    attempt: int | None = None
    before: str | None = None
    after: str | None = None
    cause: str | None = None
    data: dict[str, Any] | None = None


_APPEND: Final = Prepared(
    insert(events).values(at=now()), "study_id", "seq", *(field.name for field in fields(Happening))
)


def append(tx: Transaction, study_id: StudyId, last: int, *happenings: Happening) -> None:
    """Append events, the last of them under the number that the study's counter has just reached."""
    for seq, each in enumerate(happenings, last - len(happenings) + 1):
        _APPEND.run(tx, {"study_id": study_id, "seq": seq, **vars(each)})
