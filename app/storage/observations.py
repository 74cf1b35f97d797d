"""Observations: every terminal outcome of a trial and every later change of one, numbered in its study.

They are the only memory of the search.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from sqlalchemy import JSON, bindparam, false, func, insert, select

from app.domain.study import StudyId
from app.domain.trial import Cause, Observation, TrialState
from app.storage import asked as stored_asked
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.tables import asked, observations, trials
from thiessen.space import Config

_COLUMNS: Final = [observations.c[name] for name in ("seq", "trial", "outcome", "loss", "cause")]
_APPEND: Final = Prepared(
    insert(observations), "study_id", "seq", "trial", "attempt", "outcome", "loss", "cause"
)
_SINCE: Final = Prepared(
    select(*_COLUMNS)
    .where(
        observations.c.study_id == bindparam("of"),
        observations.c.seq > bindparam("after"),
        observations.c.seq <= bindparam("last"),
    )
    .order_by(observations.c.seq)
)


class Stored(NamedTuple):
    """An observation as it is stored, with the config of its trial."""

    seq: int
    trial: int
    outcome: str
    loss: float | None
    cause: str | None
    config: Config
    is_asked: bool  # whether the trial asked for it, in an open study


def since(
    tx: Transaction, study_id: StudyId, after: int, last: int, *, is_open: bool
) -> Iterator[Observation]:
    """Return the observations numbered after `after`, up to `last`, in order."""
    told = dict(stored_asked.since(tx, study_id, after, last)) if is_open else {}
    for row in _SINCE.every(tx, {"of": study_id, "after": after, "last": last}):
        observation = _observation(*row)
        yield replace(observation, asked=told[observation.seq]) if observation.seq in told else observation


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


def replaced(tx: Transaction, study_id: StudyId, last: int) -> dict[int, int]:
    """Return of each trial with several observations up to `last` the number of its latest."""
    newest = func.max(observations.c.seq)
    statement = (
        select(observations.c.trial, newest)
        .where(observations.c.study_id == study_id, observations.c.seq <= last)
        .group_by(observations.c.trial)
        .having(func.count() > 1)
    )
    return {trial: int(seq) for trial, seq in tx.execute(statement)}


def with_configs(tx: Transaction, study_id: StudyId, after: int, last: int, *, is_open: bool) -> list[Stored]:
    """Return the observations numbered after `after`, up to `last`, as they are stored, and configs.

    In an open study it is the config that was asked for by then, where somebody has said it.

    A long history is read so: to make an `Observation` of each would take as long as to read them.
    """
    config = func.coalesce(asked.c.config, trials.c.config, type_=JSON) if is_open else trials.c.config
    statement = (
        select(*_COLUMNS, config, asked.c.seq.is_not(None) if is_open else false())
        .join(
            trials, (trials.c.study_id == observations.c.study_id) & (trials.c.number == observations.c.trial)
        )
        .where(observations.c.study_id == study_id, observations.c.seq > after, observations.c.seq <= last)
        .order_by(observations.c.seq)
    )
    if is_open:
        of_observation = (asked.c.study_id == observations.c.study_id) & (asked.c.seq == observations.c.seq)
        statement = statement.outerjoin(asked, of_observation)
    return [Stored._make(row) for row in tx.execute(statement)]


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
    _APPEND.run(
        tx,
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


def _observation(seq: int, trial: int, outcome: str, loss: float | None, cause: str | None) -> Observation:
    return Observation(
        seq=seq,
        trial=trial,
        outcome=TrialState(outcome),
        loss=loss,
        cause=None if cause is None else Cause(cause),
    )
