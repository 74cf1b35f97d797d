"""Trials: numbered in their study, moved under the lock of its row, fenced by the lease."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import BigInteger, Row, bindparam, insert, select, update

from app.domain.errors import TrialNotFound
from app.domain.study import EARLY, Direction, Requires, Study, StudyId, StudyState
from app.domain.trial import Cause, Leased, Origin, Ranked, Trial, TrialId, TrialState
from app.storage import attempts as stored_attempts
from app.storage.store import Transaction
from app.storage.studies import IS_LEASING, Asked
from app.storage.tables import attempts, milliseconds, now, projects, studies, trials
from thiessen.space import Config, config_key


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trial stands: what its moves depend on."""

    id: TrialId
    study_id: StudyId
    number: int
    state: TrialState
    attempts: int
    max_attempts: int
    lease_id: str | None


@dataclass(frozen=True, slots=True)
class Renewed:
    """A lease that was extended."""

    trial_id: TrialId
    study_id: StudyId
    number: int
    attempt: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewLease:
    """What gives a trial to a worker."""

    id: str
    lease_for: timedelta
    floor: float  # of what the study counts as served


@dataclass(frozen=True)
class Overdue:
    """A running trial whose lease has expired."""

    trial_id: TrialId
    study_id: StudyId
    task: str
    requires: Requires
    task_version: str | None


_PLACE: Final = [
    trials.c[name] for name in ("id", "study_id", "number", "state", "attempts", "max_attempts", "lease_id")
]
_NEXT_QUEUED: Final = (
    select(*_PLACE)
    .where(
        trials.c.study_id == bindparam("of"), trials.c.state == TrialState.QUEUED, trials.c.free_at <= now()
    )
    .order_by(trials.c.free_at, trials.c.id)
    .limit(1)
)
_AT: Final = select(*_PLACE).where(trials.c.id == bindparam("at"))
_OF_LEASE: Final = (
    select(attempts.c.trial_id).where(attempts.c.lease_id == bindparam("lease")).scalar_subquery()
)
_WATERMARK: Final = select(trials.c.watermark).where(
    trials.c.study_id == bindparam("of"), trials.c.turn == bindparam("turn_was")
)
_RENEW: Final = (
    update(trials)
    .where(
        trials.c.id == _OF_LEASE,  # by the attempts' index: no step grows with the number of trials
        trials.c.lease_id == bindparam("lease"),  # the fence: only who has the trial may speak for it
        trials.c.state == TrialState.RUNNING,
    )
    .values(free_at=milliseconds() + trials.c.lease_milliseconds)
    .returning(trials.c.id, trials.c.study_id, trials.c.number, trials.c.attempts, trials.c.free_at)
)
_FINISH: Final = (
    update(trials)
    .where(trials.c.id == bindparam("at"))
    .values(state=bindparam("to"), cause=bindparam("because"), loss=bindparam("with_loss"), finished_at=now())
)
_QUEUE: Final = (
    update(trials)
    .where(trials.c.id == bindparam("at"))
    .values(
        state=bindparam("to"),
        cause=bindparam("because"),
        loss=None,
        finished_at=None,
        lease_id=None,
        free_at=now(),
        max_attempts=bindparam("most"),
    )
)
_LEASE: Final = (
    update(trials)
    .where(trials.c.id == bindparam("at"))
    .values(
        state=bindparam("to"),
        cause=bindparam("because"),
        attempts=trials.c.attempts + 1,
        lease_id=bindparam("lease"),
        lease_milliseconds=bindparam("length"),
        free_at=milliseconds() + bindparam("length", type_=BigInteger),
    )
)
_ADD: Final = insert(trials).returning(trials.c.id)


def add(
    tx: Transaction,
    study: Study,
    number: int,
    *,
    origin: Origin,
    config: Config,
    seed: int,
    is_repeat: bool = False,
    state: TrialState = TrialState.QUEUED,
    reasons: dict[str, Any] | None = None,
    turn: int | None = None,
    watermark: int | None = None,
    loss: float | None = None,
    notes: str = "",
    attributes: dict[str, Any] | None = None,
) -> Place:
    """Store a trial under the number that its study's counter has just given."""
    values = {
        "study_id": study.id,
        "number": number,
        "origin": origin,
        "turn": turn,
        "watermark": watermark,
        "config": config,
        "config_key": key(config, number if is_repeat else None),
        "seed": seed,
        "reasons": reasons or {},
        "state": state,
        "loss": loss,
        "attempts": 0,
        "max_attempts": study.spec.max_attempts,
        "free_at": now(),
        "notes": notes,
        "attributes": attributes or {},
        "created_at": now(),
        "finished_at": now() if state.is_terminal else None,
    }
    trial_id: int = tx.execute(_ADD.values(values)).scalar_one()
    return Place(TrialId(trial_id), study.id, number, state, 0, study.spec.max_attempts, None)


def key(config: Config, number: int | None) -> str:
    """Return a digest that equal configs share, unless a number tells them apart."""
    text = config_key(config)
    return sha256((text if number is None else f"{text}#{number}").encode()).hexdigest()


def of_config(tx: Transaction, study_id: StudyId, config: Config) -> Place | None:
    """Return the first trial of this config, in a study that does not allow repeats."""
    statement = select(*_PLACE).where(trials.c.study_id == study_id, trials.c.config_key == key(config, None))
    row = tx.execute(statement).one_or_none()
    return None if row is None else _place(row)


def loss(tx: Transaction, trial_id: TrialId) -> float | None:
    """Return the loss of a trial known to exist."""
    found: float | None = tx.execute(select(trials.c.loss).where(trials.c.id == trial_id)).scalar_one()
    return found


def next_queued(tx: Transaction, study_id: StudyId) -> Place | None:
    """Return the trial of a study that waits the longest. The study's row must be locked."""
    row = tx.execute(_NEXT_QUEUED, {"of": study_id}).one_or_none()
    return None if row is None else _place(row)


def at(tx: Transaction, trial_id: TrialId) -> Place:
    """Return where a trial known to exist stands. What it says holds while its study's row is locked."""
    return _place(tx.execute(_AT, {"at": trial_id}).one())


def place(tx: Transaction, study: Study, number: int) -> Place:
    """Return where a trial stands. Raises TrialNotFound."""
    statement = select(*_PLACE).where(trials.c.study_id == study.id, trials.c.number == number)
    row = tx.execute(statement).one_or_none()
    if row is None:
        raise TrialNotFound(study.spec.name, number, study.standing.trials)
    return _place(row)


def moved(
    tx: Transaction,
    place: Place,
    after: TrialState,
    *,
    cause: Cause | None,
    loss: float | None,
    lease: NewLease | None,
    max_attempts: int | None,
) -> None:
    """Write where a trial is now."""
    values: dict[str, Any] = {"at": place.id, "to": after, "because": cause}
    if lease is not None:
        length = round(lease.lease_for.total_seconds() * 1000)
        tx.execute(_LEASE, {**values, "lease": lease.id, "length": length})
    elif after is TrialState.QUEUED:
        most = place.max_attempts if max_attempts is None else max_attempts
        tx.execute(_QUEUE, {**values, "most": most})
    else:
        tx.execute(_FINISH, {**values, "with_loss": loss})


def annotate(tx: Transaction, trial_id: TrialId, **remarks: Any) -> None:
    """Write what a person remarks on a trial."""
    tx.execute(update(trials).where(trials.c.id == trial_id).values(**remarks))


def renew(tx: Transaction, lease_id: str) -> Renewed | None:
    """Extend a lease, even an expired one whose trial nobody has taken; None when it no longer holds."""
    row = tx.execute(_RENEW, {"lease": lease_id}).one_or_none()
    return None if row is None else Renewed(*row)


def is_overdue(tx: Transaction, trial_id: TrialId) -> bool:
    """Say whether its lease has expired, now that its study's row is locked."""
    statement = select(trials.c.id).where(
        trials.c.id == trial_id, trials.c.state == TrialState.RUNNING, trials.c.free_at <= now()
    )
    return tx.execute(statement.with_for_update()).one_or_none() is not None


def overdue(tx: Transaction, deaf_until: datetime, asked: Asked) -> Iterator[Overdue]:
    """Return running trials to give away, the longest overdue first; none before `deaf_until`."""
    statement = (
        select(
            trials.c.id,
            trials.c.study_id,
            studies.c.task,
            studies.c.requires,
            studies.c.task_version,
        )
        .join(studies, studies.c.id == trials.c.study_id)
        .join(projects, projects.c.id == studies.c.project_id)
        .where(
            *_expired(deaf_until),
            IS_LEASING,
            trials.c.attempts < trials.c.max_attempts,
        )
        .order_by(trials.c.free_at, trials.c.id)
    )
    for row in tx.execute(asked.narrow(statement)):
        yield Overdue(
            TrialId(row.id), StudyId(row.study_id), row.task, Requires(**row.requires), row.task_version
        )


def any_overdue(tx: Transaction, deaf_until: datetime) -> StudyId | None:
    """Return the study of the trial that is overdue the longest."""
    found = select(trials.c.study_id).where(*_expired(deaf_until)).order_by(trials.c.free_at).limit(1)
    study_id = tx.execute(found).scalar_one_or_none()
    return None if study_id is None else StudyId(study_id)


def hopeless(tx: Transaction, deaf_until: datetime) -> list[tuple[TrialId, StudyId]]:
    """Return running trials whose lease has expired and that nobody will be given again."""
    ended = studies.c.reason.in_(sorted(EARLY)) | (studies.c.state == StudyState.STOPPED)
    is_last = trials.c.attempts >= trials.c.max_attempts
    statement = (
        select(trials.c.id, trials.c.study_id, (ended | is_last).label("is_hopeless"), studies.c.retry)
        .join(studies, studies.c.id == trials.c.study_id)
        .where(*_expired(deaf_until))
        .order_by(trials.c.free_at)
    )
    return [
        (TrialId(row.id), StudyId(row.study_id))
        for row in tx.execute(statement)
        if row.is_hopeless or Cause.LOST not in row.retry
    ]


def leased(tx: Transaction, lease_id: str) -> Leased | None:
    """Return what a lease gives the right to, or None when it no longer holds."""
    row = tx.execute(_LEASED, {"lease": lease_id}).one_or_none()
    if row is None:
        return None
    return Leased(
        lease_id=lease_id,
        project=row.project,
        study=row.name,
        number=row.number,
        attempt=row.attempts,
        task=row.task,
        config=row.config,
        seed=row.seed,
        expires_at=row.free_at,
        lease_seconds=row.lease_milliseconds / 1000,
    )


def configs(tx: Transaction, study_id: StudyId, begin: int, end: int) -> Iterator[tuple[int, Config]]:
    """Return the configs of the trials numbered from `begin` on and below `end`, in order."""
    statement = (
        select(trials.c.number, trials.c.config)
        .where(trials.c.study_id == study_id, trials.c.number >= begin, trials.c.number < end)
        .order_by(trials.c.number)
    )
    return ((number, config) for number, config in tx.execute(statement))


def watermark(tx: Transaction, study_id: StudyId, turn: int) -> int:
    """Return the last observation that the proposal of a turn knew, 0 before the first."""
    return tx.execute(_WATERMARK, {"of": study_id, "turn_was": turn}).scalar_one_or_none() or 0


def best(tx: Transaction, study: Study, top: int) -> list[Ranked]:
    """Return the succeeded trials of smallest loss, best first; the earlier one first among equals."""
    return _ranked(tx, top, studies.c.id == study.id)


def best_of_all(tx: Transaction, project: str | None, top: int) -> list[Ranked]:
    """Return the best succeeded trial of each study, those of the newest studies first."""
    statement = (
        select(studies.c.id)
        .join(projects, projects.c.id == studies.c.project_id)
        .where(studies.c.succeeded > 0, studies.c.archived_at.is_(None))
        .order_by(studies.c.id.desc())
        .limit(top)
    )
    if project is not None:
        statement = statement.where(projects.c.name == project)
    found = tx.execute(statement).scalars().all()
    return [each for study_id in found for each in _ranked(tx, 1, studies.c.id == study_id)]


def numbered(tx: Transaction, study: Study, number: int) -> Trial:
    """Return a trial with its attempts and reports. Raises TrialNotFound."""
    statement = select(trials).where(trials.c.study_id == study.id, trials.c.number == number)
    row = tx.execute(statement).one_or_none()
    if row is None:
        raise TrialNotFound(study.spec.name, number, study.standing.trials)
    return Trial(
        project=study.project,
        study=study.spec.name,
        number=row.number,
        state=TrialState(row.state),
        origin=Origin(row.origin),
        turn=row.turn,
        cause=None if row.cause is None else Cause(row.cause),
        loss=row.loss,
        value=None if row.loss is None else study.spec.direction.loss(row.loss),
        config=row.config,
        seed=row.seed,
        notes=row.notes,
        attributes=row.attributes,
        reasons=row.reasons,
        attempts=tuple(stored_attempts.of_trial(tx, row.id)),
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


def last_finished(tx: Transaction, study_id: StudyId, last: int) -> list[datetime]:
    """Return when the last trials of a study finished."""
    statement = (
        select(trials.c.finished_at)
        .where(trials.c.study_id == study_id, trials.c.finished_at.is_not(None))
        .order_by(trials.c.number.desc())
        .limit(last)
    )
    return list(tx.execute(statement).scalars())


_LEASED: Final = (
    select(
        trials.c.number,
        trials.c.attempts,
        trials.c.config,
        trials.c.seed,
        trials.c.free_at,
        trials.c.lease_milliseconds,
        studies.c.name,
        studies.c.task,
        projects.c.name.label("project"),
    )
    .join(studies, studies.c.id == trials.c.study_id)
    .join(projects, projects.c.id == studies.c.project_id)
    .where(
        trials.c.id == _OF_LEASE,
        trials.c.lease_id == bindparam("lease"),
        trials.c.state == TrialState.RUNNING,
    )
)


def _expired(deaf_until: datetime) -> tuple[Any, ...]:
    return trials.c.state == TrialState.RUNNING, trials.c.free_at <= now(), now() >= deaf_until


def _ranked(tx: Transaction, top: int, *where: Any) -> list[Ranked]:
    statement = (
        select(
            trials.c.number,
            trials.c.loss,
            trials.c.config,
            trials.c.seed,
            studies.c.name,
            studies.c.direction,
            projects.c.name.label("project"),
        )
        .join(studies, studies.c.id == trials.c.study_id)
        .join(projects, projects.c.id == studies.c.project_id)
        .where(*where, trials.c.state == TrialState.SUCCEEDED)
        .order_by(trials.c.loss, trials.c.number)
        .limit(top)
    )
    return [
        Ranked(
            rank=rank,
            project=row.project,
            study=row.name,
            number=row.number,
            loss=row.loss,
            value=Direction(row.direction).loss(row.loss),
            config=row.config,
            seed=row.seed,
        )
        for rank, row in enumerate(tx.execute(statement), start=1)
    ]


def _place(row: Row[Any]) -> Place:
    return Place(
        row.id, row.study_id, row.number, TrialState(row.state), row.attempts, row.max_attempts, row.lease_id
    )
