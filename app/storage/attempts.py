"""Attempts and the learning curves they report. Nothing of an attempt is ever deleted."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.study import StudyId
from app.domain.trial import Attempt, Runner
from app.storage.store import Transaction
from app.storage.tables import attempts, now, reports, trials


@dataclass(frozen=True, kw_only=True)
class Held:
    """The attempt that a lease stands for."""

    trial_id: int
    study_id: StudyId
    trial: int
    number: int
    max_attempts: int
    last_step: int
    ended_at: datetime | None
    outcome: str | None
    loss: float | None
    message: str | None


class AlreadyAnswered(Exception):  # noqa: N818 - says what happened
    """The same request, sent twice at once, has just been given a lease."""


def begin(tx: Transaction, trial_id: int, lease_id: str, runner: Runner) -> None:
    """Record a new attempt of a trial just claimed; the one before it is lost if it never ended.

    Raises AlreadyAnswered.
    """
    tx.execute(
        update(attempts)
        .where(attempts.c.trial_id == trial_id, attempts.c.ended_at.is_(None))
        .values(ended_at=now(), outcome="lost")
    )
    number = select(trials.c.attempts).where(trials.c.id == trial_id).scalar_subquery()
    statement = insert(attempts).values(
        trial_id=trial_id,
        number=number,
        lease_id=lease_id,
        last_step=-1,
        started_at=now(),
        **vars(runner),
    )
    try:
        with tx.begin_nested():
            tx.execute(statement)
    except IntegrityError:
        raise AlreadyAnswered from None


def lease_of_request(tx: Transaction, runner: Runner) -> str | None:
    """Return the lease that this request was answered with before, if any."""
    statement = select(attempts.c.lease_id).where(
        attempts.c.worker == runner.worker,
        attempts.c.incarnation == runner.incarnation,
        attempts.c.request_id == runner.request_id,
    )
    lease_id: str | None = tx.execute(statement).scalar_one_or_none()
    return lease_id


def held_by(tx: Transaction, lease_id: str) -> Held | None:
    """Return the attempt of a lease, ended or not."""
    statement = (
        select(attempts, trials.c.study_id, trials.c.number.label("trial"), trials.c.max_attempts)
        .join(trials, trials.c.id == attempts.c.trial_id)
        .where(attempts.c.lease_id == lease_id)
    )
    row = tx.execute(statement).one_or_none()
    if row is None:
        return None
    return Held(
        trial_id=row.trial_id,
        study_id=StudyId(row.study_id),
        trial=row.trial,
        number=row.number,
        max_attempts=row.max_attempts,
        last_step=row.last_step,
        ended_at=row.ended_at,
        outcome=row.outcome,
        loss=row.loss,
        message=row.message,
    )


def end(
    tx: Transaction,
    lease_id: str,
    outcome: str,
    *,
    loss: float | None = None,
    message: str | None = None,
    traceback: str | None = None,
) -> None:
    """Record how an attempt ended."""
    tx.execute(
        update(attempts)
        .where(attempts.c.lease_id == lease_id)
        .values(ended_at=now(), outcome=outcome, loss=loss, message=message, traceback=traceback)
    )


def report(tx: Transaction, held: Held, lease_id: str, points: list[dict[str, Any]]) -> None:
    """Append the points that are new; a batch sent twice changes nothing."""
    new = [point for point in points if point["step"] > held.last_step]
    if not new:
        return
    tx.execute(
        insert(reports).values(
            trial_id=held.trial_id, attempt=held.number, first_step=new[0]["step"], points=new
        )
    )
    tx.execute(update(attempts).where(attempts.c.lease_id == lease_id).values(last_step=new[-1]["step"]))


def of_trial(tx: Transaction, trial_id: int) -> Iterator[Attempt]:
    """Return every attempt of a trial with its reports, first to last."""
    statement = select(attempts).where(attempts.c.trial_id == trial_id).order_by(attempts.c.number)
    for row in tx.execute(statement).all():
        batches = select(reports.c.points).where(
            reports.c.trial_id == trial_id, reports.c.attempt == row.number
        )
        points = tx.execute(batches.order_by(reports.c.first_step)).scalars()
        yield Attempt(
            number=row.number,
            worker=row.worker,
            device=row.device,
            environment=row.environment,
            started_at=row.started_at,
            ended_at=row.ended_at,
            outcome=row.outcome,
            message=row.message,
            traceback=row.traceback,
            reports=tuple(point for batch in points for point in batch),
        )
