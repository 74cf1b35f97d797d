"""Events: everything that happens to a study and its trials, numbered in the study, and never changed."""

from typing import Any, Final

from sqlalchemy import insert

from app.domain.study import StudyId
from app.storage.store import Transaction
from app.storage.tables import events, now

_APPEND: Final = insert(events).values(at=now())


def append(
    tx: Transaction,
    study_id: StudyId,
    seq: int,
    *,
    kind: str,
    who: str,
    trial: int | None = None,
    attempt: int | None = None,
    before: str | None = None,
    after: str | None = None,
    cause: str | None = None,
    data: dict[str, Any] | None = None,
) -> None:
    """Append an event under the number that the study's counter has just given."""
    tx.execute(
        _APPEND,
        {
            "study_id": study_id,
            "seq": seq,
            "kind": kind,
            "who": who,
            "trial": trial,
            "attempt": attempt,
            "before": before,
            "after": after,
            "cause": cause,
            "data": data,
        },
    )
