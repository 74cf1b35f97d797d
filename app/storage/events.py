"""Events: everything that happens to a study and its trials, numbered in the study, and never changed."""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Integer, bindparam, insert

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


_TOLD: Final = [field.name for field in fields(Happening)]


def append(tx: Transaction, study_id: StudyId, last: int, *happenings: Happening) -> None:
    """Append events, the last of them under the number that the study's counter has just reached."""
    values: dict[str, Any] = {"of": study_id, "last": last}
    for place, each in enumerate(happenings):
        values |= {f"{name}_{place}": told for name, told in vars(each).items()}
    _append(len(happenings)).run(tx, values)


@lru_cache
def _append(count: int) -> Prepared:
    """Return the statement that appends so many at once."""
    last = bindparam("last", type_=Integer)
    rows = [
        {
            "study_id": bindparam("of"),
            "seq": last - (count - 1 - place),
            "at": now(),
            **{name: bindparam(f"{name}_{place}") for name in _TOLD},
        }
        for place in range(count)
    ]
    return Prepared(insert(events).values(rows))
