"""Observations: every terminal outcome of a trial, numbered in its study, and never changed.

They are the only memory of the search.
"""

from sqlalchemy import insert, select

from app.domain.study import Study, StudyId
from app.domain.trial import Cause, Observation, TrialState
from app.storage.store import Transaction
from app.storage.tables import observations, trials


def known_to(tx: Transaction, study: Study) -> list[Observation]:
    """Return the study's observations in order, up to the last one `study` knows."""
    statement = (
        select(observations, trials.c.config)
        .join(
            trials,
            (trials.c.study_id == observations.c.study_id) & (trials.c.number == observations.c.trial),
        )
        .where(observations.c.study_id == study.id, observations.c.seq <= study.observations)
        .order_by(observations.c.seq)
    )
    return [
        Observation(
            trial=row.trial,
            config=row.config,
            outcome=TrialState(row.outcome),
            loss=row.loss,
            cause=None if row.cause is None else Cause(row.cause),
        )
        for row in tx.execute(statement)
    ]


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
        insert(observations).values(
            study_id=study_id,
            seq=seq,
            trial=trial,
            attempt=attempt,
            outcome=outcome,
            loss=loss,
            cause=cause,
        )
    )
