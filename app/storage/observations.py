"""Observations: every terminal outcome of a trial and every later change of one, numbered in its study.

They are the only memory of the search.
"""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Subquery, bindparam, func, insert, select

from app.domain.study import StudyId
from app.domain.trial import Cause, Observation, TrialState
from app.storage.store import Transaction
from app.storage.tables import observations, trials
from thiessen.space import Config

_COLUMNS: Final = [observations.c[name] for name in ("seq", "trial", "outcome", "loss", "cause")]
_APPEND: Final = insert(observations)
_SINCE: Final = (
    select(*_COLUMNS)
    .where(
        observations.c.study_id == bindparam("of"),
        observations.c.seq > bindparam("after"),
        observations.c.seq <= bindparam("last"),
    )
    .order_by(observations.c.seq)
)


def since(tx: Transaction, study_id: StudyId, after: int, last: int) -> Iterator[Observation]:
    """Return the observations numbered after `after`, up to `last`, in order."""
    for row in tx.execute(_SINCE, {"of": study_id, "after": after, "last": last}):
        yield _observation(*row)


def attempts_since(tx: Transaction, study_id: StudyId, after: int, last: int) -> list[tuple[int, int]]:
    """Return trial and attempt of the observations after `after` that an attempt has brought."""
    statement = (
        select(observations.c.trial, observations.c.attempt)
        .where(
            observations.c.study_id == study_id,
            observations.c.seq > after,
            observations.c.seq <= last,
            observations.c.attempt > 0,
        )
        .order_by(observations.c.seq)
    )
    return [(trial, attempt) for trial, attempt in tx.execute(statement)]


def latest(tx: Transaction, study_id: StudyId, last: int) -> Iterator[tuple[Observation, Config]]:
    """Return of each trial that has ended its latest observation up to `last`, in order, and its config."""
    ended = _ended(study_id, last)
    statement = (
        select(ended, trials.c.config)
        .join(trials, (trials.c.study_id == study_id) & (trials.c.number == ended.c.trial))
        .order_by(ended.c.seq)
    )
    for seq, trial, outcome, loss, cause, _, config in tx.execute(statement):
        yield _observation(seq, trial, outcome, loss, cause), config


def pending(tx: Transaction, study_id: StudyId, numbered: int, last: int) -> Iterator[tuple[int, Config]]:
    """Return the trials numbered below `numbered` that have not ended, as of observation `last`, in order."""
    ended = _ended(study_id, last)
    statement = (
        select(trials.c.number, trials.c.config)
        .outerjoin(ended, ended.c.trial == trials.c.number)
        .where(trials.c.study_id == study_id, trials.c.number < numbered, ended.c.seq.is_(None))
        .order_by(trials.c.number)
    )
    return ((number, config) for number, config in tx.execute(statement))


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


def _ended(study_id: StudyId, last: int) -> Subquery:
    """Select the latest observation up to `last` of each trial that has ended by it."""
    newest = func.max(observations.c.seq).over(partition_by=observations.c.trial).label("newest")
    known = (
        select(*_COLUMNS, newest)
        .where(observations.c.study_id == study_id, observations.c.seq <= last)
        .subquery()
    )
    latest = select(known).where(known.c.seq == known.c.newest, known.c.outcome != TrialState.QUEUED)
    return latest.subquery()


def _observation(seq: int, trial: int, outcome: str, loss: float | None, cause: str | None) -> Observation:
    return Observation(
        seq=seq,
        trial=trial,
        outcome=TrialState(outcome),
        loss=loss,
        cause=None if cause is None else Cause(cause),
    )
