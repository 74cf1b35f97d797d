"""Observations: every terminal outcome of a trial and every later change of one, numbered in its study.

They are the only memory of the search.
"""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import bindparam, insert, select

from app.domain.study import StudyId
from app.domain.trial import Cause, Observation, TrialState
from app.storage.store import Transaction
from app.storage.tables import observations

_APPEND: Final = insert(observations)
_SINCE: Final = (
    select(
        observations.c.seq,
        observations.c.trial,
        observations.c.outcome,
        observations.c.loss,
        observations.c.cause,
    )
    .where(
        observations.c.study_id == bindparam("of"),
        observations.c.seq > bindparam("after"),
        observations.c.seq <= bindparam("last"),
    )
    .order_by(observations.c.seq)
)


def since(tx: Transaction, study_id: StudyId, after: int, last: int) -> Iterator[Observation]:
    """Return the observations numbered after `after`, up to `last`, in order."""
    for seq, trial, outcome, loss, cause in tx.execute(
        _SINCE, {"of": study_id, "after": after, "last": last}
    ):
        yield Observation(
            seq=seq,
            trial=trial,
            outcome=TrialState(outcome),
            loss=loss,
            cause=None if cause is None else Cause(cause),
        )


def append(
    tx: Transaction,
    study_id: StudyId,
    seq: int,
    *,
    trial: int,
    attempt: int,
    outcome: TrialState,
    loss: float | None = None,
    cause: Cause | None = None,
) -> None:
    """Append a terminal outcome to the study's history, its only memory for the search."""
    tx.execute(
        _APPEND,
        {
            "study_id": study_id,
            "seq": seq,
            "trial": trial,
            "attempt": attempt,
            "outcome": outcome,
            "loss": loss,
            "cause": cause,
        },
    )
