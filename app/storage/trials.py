"""Trials: stored once, claimed by a single conditional statement, ended once."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import Row, func, insert, or_, select, update

from app.domain.errors import TrialNotFound
from app.domain.study import Study, StudyId
from app.domain.trial import Cause, Leased, Ranked, Trial, TrialState
from app.storage.attempts import of_trial
from app.storage.store import Transaction
from app.storage.tables import attempts, later, now, studies, trials
from thiessen.space import Config, config_key

UNFINISHED = (TrialState.QUEUED, TrialState.RUNNING)


@dataclass(frozen=True)
class Overdue:
    """A running trial whose last attempt went silent."""

    study_id: StudyId
    number: int
    attempt: int
    lease_id: str


def add(tx: Transaction, study: Study, *, config: Config, seed: int, reasons: dict[str, Any]) -> None:
    """Queue a trial under the number that `studies.take_number` has just taken."""
    tx.execute(
        insert(trials).values(
            study_id=study.id,
            number=study.trials,
            config=config,
            config_key=sha256(config_key(config).encode()).hexdigest(),
            seed=seed,
            reasons=reasons,
            state=TrialState.QUEUED,
            attempts=0,
            max_attempts=study.spec.max_attempts,
            free_at=now(),
            created_at=now(),
        )
    )


def claim(
    tx: Transaction,
    *,
    lease_id: str,
    lease_for: timedelta,
    deaf_until: datetime,
    tasks: Collection[str],
    names: Collection[str] | None,
) -> int | None:
    """Give the longest waiting trial to this lease, in one statement; None when none is free.

    A running trial whose lease has expired is free too, but not before `deaf_until`.
    """
    wanted = select(studies.c.id).where(studies.c.task.in_(tasks))
    if names is not None:
        wanted = wanted.where(studies.c.name.in_(names))
    free = (
        select(trials.c.id)
        .where(
            trials.c.state.in_(UNFINISHED),
            trials.c.free_at <= now(),
            or_(trials.c.state == TrialState.QUEUED, now() >= deaf_until),
            trials.c.attempts < trials.c.max_attempts,
            trials.c.study_id.in_(wanted),
        )
        .order_by(trials.c.free_at, trials.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    statement = (
        update(trials)
        .where(trials.c.id == free)
        .values(
            state=TrialState.RUNNING,
            attempts=trials.c.attempts + 1,
            lease_id=lease_id,
            free_at=later(lease_for),
        )
        .returning(trials.c.id)
    )
    trial_id: int | None = tx.execute(statement).scalar_one_or_none()
    return trial_id


def leased(tx: Transaction, lease_id: str) -> Leased | None:
    """Return what a lease gives the right to, or None when it no longer holds."""
    statement = (
        select(trials, studies.c.name, studies.c.task)
        .join(studies, studies.c.id == trials.c.study_id)
        .where(*_held(lease_id))
    )
    row = tx.execute(statement).one_or_none()
    if row is None:
        return None
    return Leased(
        lease_id=lease_id,
        study=row.name,
        number=row.number,
        attempt=row.attempts,
        task=row.task,
        config=row.config,
        seed=row.seed,
        expires_at=row.free_at,
    )


def renew(tx: Transaction, lease_id: str, lease_for: timedelta) -> bool:
    """Extend a lease, even an expired one whose trial nobody has taken; False when it no longer holds."""
    statement = update(trials).where(*_held(lease_id)).values(free_at=later(lease_for))
    return tx.execute(statement).rowcount == 1


def finish(
    tx: Transaction,
    lease_id: str,
    state: TrialState,
    *,
    loss: float | None = None,
    cause: Cause | None = None,
) -> bool:
    """Move a trial to a terminal state; False when the lease no longer holds."""
    statement = (
        update(trials).where(*_held(lease_id)).values(state=state, loss=loss, cause=cause, finished_at=now())
    )
    return tx.execute(statement).rowcount == 1


def put_back(tx: Transaction, lease_id: str, *, unused: bool) -> bool:
    """Queue a running trial again, its attempt used up or not; False when the lease no longer holds."""
    statement = (
        update(trials)
        .where(*_held(lease_id))
        .values(
            state=TrialState.QUEUED,
            lease_id=None,
            free_at=now(),
            max_attempts=trials.c.max_attempts + int(unused),
        )
    )
    return tx.execute(statement).rowcount == 1


def overdue(tx: Transaction, deaf_until: datetime, limit: int = 100) -> list[Overdue]:
    """Return running trials whose lease expired in their last attempt; none before `deaf_until`."""
    statement = select(trials).where(
        trials.c.state == TrialState.RUNNING,
        trials.c.free_at <= now(),
        now() >= deaf_until,
        trials.c.attempts >= trials.c.max_attempts,
    )
    return [
        Overdue(StudyId(row.study_id), row.number, row.attempts, row.lease_id)
        for row in tx.execute(statement.order_by(trials.c.free_at).limit(limit))
    ]


def is_overdue(tx: Transaction, trial: Overdue) -> bool:
    """Say whether it is so still, now that its study's row is locked."""
    statement = select(trials.c.id).where(*_held(trial.lease_id), trials.c.free_at <= now())
    return tx.execute(statement.with_for_update()).one_or_none() is not None


def configs(tx: Transaction, study: Study) -> list[Config]:
    """Return the config of every trial numbered when `study` was read, from number 0 on."""
    statement = select(trials.c.config).where(trials.c.study_id == study.id, trials.c.number < study.trials)
    return list(tx.execute(statement.order_by(trials.c.number)).scalars())


def best(tx: Transaction, study: Study, top: int) -> list[Ranked]:
    """Return the succeeded trials of smallest loss, best first; the earlier one first among equals."""
    statement = (
        select(trials)
        .where(trials.c.study_id == study.id, trials.c.state == TrialState.SUCCEEDED)
        .order_by(trials.c.loss, trials.c.number)
        .limit(top)
    )
    return [
        Ranked(
            rank=rank,
            study=study.spec.name,
            number=row.number,
            loss=row.loss,
            config=row.config,
            seed=row.seed,
        )
        for rank, row in enumerate(tx.execute(statement), start=1)
    ]


def counts(tx: Transaction, study: Study) -> dict[TrialState, int]:
    """Return how many trials of a study are in each state."""
    statement = (
        select(trials.c.state, func.count()).where(trials.c.study_id == study.id).group_by(trials.c.state)
    )
    found = {state: int(number) for state, number in tx.execute(statement)}
    return {state: found.get(state, 0) for state in TrialState}


def numbered(tx: Transaction, study: Study, number: int) -> Trial:
    """Return a trial with its attempts and reports. Raises TrialNotFound."""
    statement = select(trials).where(trials.c.study_id == study.id, trials.c.number == number)
    row = tx.execute(statement).one_or_none()
    if row is None:
        raise TrialNotFound(study.spec.name, number, study.trials)
    return _trial(tx, study, row)


def _trial(tx: Transaction, study: Study, row: Row[Any]) -> Trial:
    return Trial(
        study=study.spec.name,
        number=row.number,
        state=TrialState(row.state),
        cause=None if row.cause is None else Cause(row.cause),
        loss=row.loss,
        config=row.config,
        seed=row.seed,
        reasons=row.reasons,
        attempts=tuple(of_trial(tx, row.id)),
    )


def _held(lease_id: str) -> tuple[Any, ...]:
    """The fence: only the attempt that the trial was last given to may move it."""
    of_the_lease = select(attempts.c.trial_id).where(attempts.c.lease_id == lease_id).scalar_subquery()
    return (
        trials.c.id == of_the_lease,  # by the attempts' index: no read grows with the number of trials
        trials.c.lease_id == lease_id,
        trials.c.state == TrialState.RUNNING,
    )
