"""Attempts and the learning curves they report. Nothing of an attempt is ever deleted."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Row, bindparam, delete, func, insert, select, type_coerce, update
from sqlalchemy.exc import IntegrityError

from app.domain.study import Direction, Standing, StudyId
from app.domain.trial import Attempt, Runner, TrialId, TrialState
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.studies import STANDING, standing_of
from app.storage.tables import attempts, milliseconds, now, reports, studies, trials

MOST_UPDATES: Final = 10**12  # counted of a trial: so the sum of all fits into its column
MOST_POINTS: Final = 2000  # of one curve; of a longer one every second, fourth ... point is kept


class Effort(NamedTuple):
    """What an attempt has spent."""

    updates: int
    milliseconds: int


def effort(last_step: int, milliseconds: int) -> Effort:
    """Return what an attempt has spent, within what a study can count."""
    return Effort(min(max(last_step, 0), MOST_UPDATES), max(milliseconds, 0))


@dataclass(frozen=True, slots=True)
class Held:
    """The attempt that a lease stands for, and where its trial stands."""

    standing: Standing  # of its study
    trial_id: TrialId
    study_id: StudyId
    direction: Direction
    trial: int
    state: TrialState
    attempts: int
    max_attempts: int
    current: str | None  # the lease that the trial was last given to
    who: str  # took the lease
    number: int
    gpus: int
    ended_at: datetime | None
    outcome: str | None
    loss: float | None
    message: str | None
    late: dict[str, Any] | None
    is_open: bool  # the space of the study
    last_step: int
    milliseconds: int  # since it was given

    @property
    def effort(self) -> Effort:
        return effort(self.last_step, self.milliseconds)


_HELD: Final = Prepared(
    select(
        trials.c.id,
        trials.c.study_id,
        studies.c.direction,
        trials.c.number,
        trials.c.state,
        trials.c.attempts,
        trials.c.max_attempts,
        trials.c.lease_id,
        *(
            attempts.c[name]
            for name in ("who", "number", "gpus", "ended_at", "outcome", "loss", "message", "late")
        ),
        trials.c.start.is_not(None),
        attempts.c.last_step,
        milliseconds() - type_coerce(attempts.c.started_at, BigInteger),
        *STANDING,
    )
    .select_from(
        studies.join(trials, trials.c.study_id == studies.c.id).join(
            attempts, attempts.c.trial_id == trials.c.id
        )
    )
    .where(attempts.c.lease_id == bindparam("lease"))
    .with_for_update(of=[studies, trials, attempts])  # all as they are once the study is locked
)
_OF_REQUEST: Final = Prepared(
    select(attempts.c.lease_id)
    .where(
        attempts.c.who == bindparam("of_who"),
        attempts.c.worker == bindparam("of_worker"),
        attempts.c.incarnation == bindparam("of_incarnation"),
        attempts.c.request_id == bindparam("of_request"),
    )
    .order_by(attempts.c.place)
)
_BEGIN: Final = Prepared(
    insert(attempts).values(last_step=-1, started_at=now()),
    "trial_id", "number", "lease_id", "request_id", "place", "who", "worker", "incarnation", "device", "gpus",
    "environment", "task_version",
)  # fmt: skip
_END: Final = Prepared(
    update(attempts)
    .where(attempts.c.lease_id == bindparam("lease"))
    .values(
        ended_at=now(),
        outcome=bindparam("with_outcome"),
        loss=bindparam("with_loss"),
        message=bindparam("with_message"),
        traceback=bindparam("with_traceback"),
    )
)


_EFFORT: Final = Prepared(
    select(
        attempts.c.last_step,
        func.coalesce(type_coerce(attempts.c.ended_at, BigInteger), milliseconds(), type_=BigInteger)
        - type_coerce(attempts.c.started_at, BigInteger),
    ).where(attempts.c.trial_id == bindparam("of"), attempts.c.number == bindparam("at"))
)


class AlreadyAnswered(Exception):  # noqa: N818 - says what happened
    """The same request, sent twice at once, has just been given a lease."""


def begin(
    tx: Transaction,
    trial_id: TrialId,
    number: int,
    lease_id: str,
    runner: Runner,
    *,
    place: int,
    task_version: str | None,
) -> None:
    """Record a new attempt of a trial just claimed. Raises AlreadyAnswered: then give up the step."""
    values = {
        "trial_id": trial_id,
        "number": number,
        "lease_id": lease_id,
        "request_id": runner.request_id,
        "place": place,
        "who": runner.who,
        "worker": runner.worker,
        "incarnation": runner.incarnation,
        "device": runner.slot.name,
        "gpus": runner.slot.gpus,
        "environment": runner.environment,
        "task_version": task_version,
    }
    try:
        _BEGIN.every(tx, values)  # at once: the refusal means something here
    except IntegrityError:
        raise AlreadyAnswered from None


def of_request(tx: Transaction, runner: Runner) -> Sequence[str]:
    """Return the leases that this request was answered with before."""
    of = {
        "of_who": runner.who,
        "of_worker": runner.worker,
        "of_incarnation": runner.incarnation,
        "of_request": runner.request_id,
    }
    return [lease_id for (lease_id,) in _OF_REQUEST.every(tx, of)]


def held_by(tx: Transaction, lease_id: str) -> Held | None:
    """Return the attempt of a lease, ended or not; its study's row stays locked until the commit."""
    row = _HELD.first(tx, {"lease": lease_id})
    if row is None:
        return None
    trial_id, study_id, direction, number, state, *rest = row
    standing = standing_of(rest[-len(STANDING) :])
    of_attempt = rest[: -len(STANDING)]
    return Held(standing, trial_id, study_id, Direction(direction), number, TrialState(state), *of_attempt)


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
    _END.run(
        tx,
        {
            "lease": lease_id,
            "with_outcome": outcome,
            "with_loss": loss,
            "with_message": message,
            "with_traceback": traceback,
        },
    )


def keep_verdict(tx: Transaction, lease_id: str, reason: str) -> None:
    """Keep why an attempt under way is not worth going on with: what it was compared with changes later."""
    under_way = (attempts.c.lease_id == lease_id) & attempts.c.ended_at.is_(None)
    tx.execute(update(attempts).where(under_way).values(message=reason))


def effort_of(tx: Transaction, trial_id: TrialId, number: int) -> Effort:
    """Return what an attempt known to exist has spent."""
    last_step, spent = _EFFORT.one(tx, {"of": trial_id, "at": number})
    return effort(last_step, spent)


def gpus_of(tx: Transaction, lease_id: str) -> int:
    """Return how many GPUs the attempt of this lease has."""
    return int(tx.execute(select(attempts.c.gpus).where(attempts.c.lease_id == lease_id)).scalar_one())


def keep_late(tx: Transaction, lease_id: str, late: dict[str, Any]) -> None:
    """Keep a result that came when the lease was lost, and whether it counts."""
    tx.execute(update(attempts).where(attempts.c.lease_id == lease_id).values(late=late))


def late_result(tx: Transaction, trial_id: TrialId) -> tuple[str, int, dict[str, Any]] | None:
    """Return the first result of a trial that came when its lease was lost, with that lease and attempt."""
    statement = (
        select(attempts.c.lease_id, attempts.c.number, attempts.c.late)
        .where(attempts.c.trial_id == trial_id, attempts.c.late.is_not(None))
        .order_by(attempts.c.number)
        .limit(1)
    )
    row = tx.execute(statement).one_or_none()
    return None if row is None else (row.lease_id, row.number, row.late)


def report(tx: Transaction, lease_id: str, points: list[dict[str, Any]], log_tail: str | None) -> None:
    """Append the points that are new; a batch sent twice changes nothing."""
    row = tx.execute(select(attempts).where(attempts.c.lease_id == lease_id)).one()
    changed: dict[str, Any] = {} if log_tail is None else {"log_tail": log_tail}
    if new := [point for point in points if point["step"] > row.last_step]:
        kept = new[-row.points % row.kept_every :: row.kept_every]
        if kept:
            at = {"trial_id": row.trial_id, "attempt": row.number, "first_step": kept[0]["step"]}
            tx.execute(insert(reports).values(**at, points=kept))
        changed |= {"last_step": new[-1]["step"], "points": row.points + len(new)}
    if changed:
        tx.execute(update(attempts).where(attempts.c.lease_id == lease_id).values(**changed))
    if changed.get("points", 0) > MOST_POINTS * row.kept_every:
        _thin(tx, row.trial_id, row.number, row.kept_every * 2)


def last_loss(tx: Transaction, held: Held, metric: str | None) -> float | None:
    """Return the last finite loss that an attempt has reported, None without one."""
    if metric is None:
        return None
    values = [point["metrics"].get(metric) for point in curve(tx, held.trial_id, held.number)]
    numbers = [float(value) for value in values if value is not None]
    if not numbers or not math.isfinite(numbers[-1]):
        return None
    return held.direction.loss(numbers[-1])


def curve(tx: Transaction, trial_id: TrialId, attempt: int) -> list[dict[str, Any]]:
    """Return the points that are kept of an attempt's reports."""
    batches = select(reports.c.points).where(reports.c.trial_id == trial_id, reports.c.attempt == attempt)
    return [
        point for batch in tx.execute(batches.order_by(reports.c.first_step)).scalars() for point in batch
    ]


def curves_of(
    tx: Transaction, study_id: StudyId, ended: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Return the points of attempts, each given by its trial's number and its own, by trial."""
    for trial, attempt in ended:
        trial_id = tx.execute(
            select(trials.c.id).where(trials.c.study_id == study_id, trials.c.number == trial)
        ).scalar_one()
        yield trial, curve(tx, trial_id, attempt)


def curves_of_trials(
    tx: Transaction, study_id: StudyId, numbers: Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    """Return the points of the last attempt of each of these trials that reported any, by trial."""
    statement = (
        select(trials.c.number, reports.c.attempt, reports.c.points)
        .join(reports, reports.c.trial_id == trials.c.id)
        .where(trials.c.study_id == study_id, trials.c.number.in_(numbers))
        .order_by(trials.c.number, reports.c.attempt, reports.c.first_step)
    )
    curves: dict[int, list[dict[str, Any]]] = {}
    last: dict[int, int] = {}
    for number, attempt, points in tx.execute(statement):
        if last.get(number) != attempt:
            last[number], curves[number] = attempt, []
        curves[number].extend(points)
    return curves


class Tried(NamedTuple):
    """Where and when an attempt was, and what came of it."""

    trial: int
    worker: str
    device: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None


def from_trial(tx: Transaction, study_id: StudyId, first: int) -> list[Tried]:
    """Return the attempts of the trials numbered from `first` on."""
    statement = (
        select(
            trials.c.number,
            attempts.c.worker,
            attempts.c.device,
            attempts.c.started_at,
            attempts.c.ended_at,
            attempts.c.outcome,
        )
        .join(attempts, attempts.c.trial_id == trials.c.id)
        .where(trials.c.study_id == study_id, trials.c.number >= first)
        .order_by(trials.c.number, attempts.c.number)
    )
    return [Tried._make(row) for row in tx.execute(statement)]


class Latest(NamedTuple):
    """The last attempt of a trial: how far it came, and how it ended."""

    number: int
    worker: str
    device: str
    last_step: int  # -1 before its first report
    started_at: datetime
    ended_at: datetime | None
    message: str | None


def latest_of(tx: Transaction, study_id: StudyId, numbers: Sequence[int]) -> dict[int, Latest]:
    """Return the last attempt of each of these trials that had one, by trial."""
    statement = (
        select(trials.c.number.label("trial"), *(attempts.c[name] for name in Latest._fields))
        .join(attempts, (attempts.c.trial_id == trials.c.id) & (attempts.c.number == trials.c.attempts))
        .where(trials.c.study_id == study_id, trials.c.number.in_(numbers))
    )
    return {trial: Latest._make(rest) for trial, *rest in tx.execute(statement)}


def curves_under_way(tx: Transaction, study_id: StudyId) -> dict[int, list[dict[str, Any]]]:
    """Return the points of all running trials of a study, by trial."""
    statement = (
        select(trials.c.number, reports.c.points)
        .join(reports, (reports.c.trial_id == trials.c.id) & (reports.c.attempt == trials.c.attempts))
        .where(trials.c.study_id == study_id, trials.c.state == TrialState.RUNNING)
        .order_by(trials.c.number, reports.c.first_step)
    )
    curves: dict[int, list[dict[str, Any]]] = {}
    for number, points in tx.execute(statement):
        curves.setdefault(number, []).extend(points)
    return curves


def of_trial(tx: Transaction, trial_id: TrialId) -> Iterator[Attempt]:
    """Return every attempt of a trial with its reports, first to last."""
    statement = select(attempts).where(attempts.c.trial_id == trial_id).order_by(attempts.c.number)
    for row in tx.execute(statement).all():
        yield attempt_of_row(row, curve(tx, trial_id, row.number))


def attempt_of_row(row: Row[Any], curve: Sequence[dict[str, Any]]) -> Attempt:
    """Return a stored attempt with its curve."""
    return Attempt(
        number=row.number,
        worker=row.worker,
        incarnation=row.incarnation,
        device=row.device,
        gpus=row.gpus,
        task_version=row.task_version,
        environment=row.environment,
        started_at=row.started_at,
        ended_at=row.ended_at,
        outcome=row.outcome,
        message=row.message,
        traceback=row.traceback,
        log_tail=row.log_tail,
        late=row.late,
        kept_every=row.kept_every,
        reports=tuple(curve),
    )


def _thin(tx: Transaction, trial_id: TrialId, attempt: int, kept_every: int) -> None:
    """Keep every second of the points that are kept, the first among them, as one batch."""
    kept = curve(tx, trial_id, attempt)[::2]
    of_attempt = (reports.c.trial_id == trial_id) & (reports.c.attempt == attempt)
    tx.execute(delete(reports).where(of_attempt))
    tx.execute(
        insert(reports).values(trial_id=trial_id, attempt=attempt, first_step=kept[0]["step"], points=kept)
    )
    tx.execute(
        update(attempts)
        .where(attempts.c.trial_id == trial_id, attempts.c.number == attempt)
        .values(kept_every=kept_every)
    )
