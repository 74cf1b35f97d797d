"""Trials: numbered in their study, moved under the lock of its row, fenced by the lease."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    Select,
    bindparam,
    case,
    exists,
    func,
    insert,
    select,
    tuple_,
    union,
    update,
)

from app.domain.errors import TrialNotFound
from app.domain.study import EARLY, ComparisonId, Direction, Requires, Study, StudyId, StudyState
from app.domain.trial import Cause, Leased, Origin, Ranked, Trial, TrialId, TrialState
from app.storage import asked as stored_asked
from app.storage import attempts as stored_attempts
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.studies import IS_LEASING, MOST_SHAPES, Asked, Shape, Titles, narrowed
from app.storage.tables import attempts, events, milliseconds, now, projects, studies, trials
from thiessen.search import trial_seed
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

    @property
    def milliseconds(self) -> int:
        return round(self.lease_for.total_seconds() * 1000)


@dataclass(frozen=True)
class Overdue:
    """A running trial whose lease has expired."""

    trial_id: TrialId
    study_id: StudyId
    titles: Titles
    requires: Requires
    task_version: str | None


@dataclass(frozen=True, slots=True)
class Given:
    """What a trial that was just given to a worker is trained with."""

    config: Config
    seed: int
    expires_at: datetime
    is_open: bool  # the space


class Queued(NamedTuple):
    """A config that a new study begins with."""

    config: Config
    attributes: dict[str, Any]


_START: Final = func.coalesce(trials.c.start, trials.c.config, type_=JSON)  # what a trial begins with
_PLACE: Final = [
    trials.c[name] for name in ("id", "study_id", "number", "state", "attempts", "max_attempts", "lease_id")
]
_NEXT_QUEUED: Final = Prepared(
    select(*_PLACE)
    .where(
        trials.c.study_id == bindparam("of"), trials.c.state == TrialState.QUEUED, trials.c.free_at <= now()
    )
    .order_by(trials.c.free_at, trials.c.id)
    .limit(1)
)
_AT: Final = Prepared(select(*_PLACE).where(trials.c.id == bindparam("at")))
_OF_LEASE: Final = (
    select(attempts.c.trial_id).where(attempts.c.lease_id == bindparam("lease")).scalar_subquery()
)
_RENEW: Final = Prepared(
    update(trials)
    .where(
        trials.c.id == _OF_LEASE,  # by the attempts' index: no step grows with the number of trials
        trials.c.lease_id == bindparam("lease"),  # the fence: only who has the trial may speak for it
        trials.c.state == TrialState.RUNNING,
    )
    .values(free_at=milliseconds() + trials.c.lease_milliseconds)
    .returning(trials.c.id, trials.c.study_id, trials.c.number, trials.c.attempts, trials.c.free_at)
)
_FINISH: Final = Prepared(
    update(trials)
    .where(trials.c.id == bindparam("at"))
    .values(state=bindparam("to"), cause=bindparam("because"), loss=bindparam("with_loss"), finished_at=now())
)
_QUEUE: Final = Prepared(
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
_LEASE: Final = Prepared(
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
    .returning(trials.c.config, trials.c.start, trials.c.seed, trials.c.free_at)
)
_GIVEN: Final = (
    "study_id", "number", "origin", "turn", "watermark", "config", "start", "config_key", "seed", "reasons",
    "state", "loss", "attempts", "max_attempts", "lease_id", "notes", "attributes",
)  # fmt: skip
_ADD: Final = insert(trials).returning(trials.c.id, trials.c.free_at)
_ADD_QUEUED: Final = Prepared(_ADD.values(free_at=now(), created_at=now()), *_GIVEN)
_ADD_FINISHED: Final = Prepared(_ADD.values(free_at=now(), created_at=now(), finished_at=now()), *_GIVEN)
_ADD_LEASED: Final = Prepared(
    _ADD.values(
        free_at=milliseconds() + bindparam("length", type_=BigInteger),
        created_at=now(),
        lease_milliseconds=bindparam("length", type_=BigInteger),
    ),
    *_GIVEN,
)


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
    lease: NewLease | None = None,
    reasons: dict[str, Any] | None = None,
    turn: int | None = None,
    watermark: int | None = None,
    loss: float | None = None,
    notes: str = "",
    attributes: dict[str, Any] | None = None,
) -> tuple[Place, Given]:
    """Store a trial under the number that its study's counter has just given, leased at once or not."""
    made, most = int(lease is not None), study.spec.max_attempts
    lease_id = None if lease is None else lease.id
    values = {
        "study_id": study.id,
        "number": number,
        "origin": origin,
        "turn": turn,
        "watermark": watermark,
        "config": config,
        "start": config if study.spec.space.is_open else None,
        "config_key": key(config, number if is_repeat else None),
        "seed": seed,
        "reasons": reasons or {},
        "state": state,
        "loss": loss,
        "attempts": made,
        "max_attempts": most,
        "lease_id": lease_id,
        "notes": notes,
        "attributes": attributes or {},
    }
    if lease is not None:
        values["length"] = lease.milliseconds
    statement = _ADD_LEASED if lease else _ADD_FINISHED if state.is_terminal else _ADD_QUEUED
    trial_id, free_at = statement.one(tx, values)
    place = Place(TrialId(trial_id), study.id, number, state, made, most, lease_id)
    return place, Given(config, seed, free_at, study.spec.space.is_open)


def add_queued(
    tx: Transaction, study_id: StudyId, seed: int, max_attempts: int, queued: Sequence[Queued], who: str
) -> None:
    """Store the first trials of a study that has just been made, and all that it counts of them."""
    rows = [
        {
            "study_id": study_id,
            "number": number,
            "origin": Origin.ENQUEUED,
            "config": each.config,
            "config_key": key(each.config, number),
            "seed": trial_seed(seed, number),
            "reasons": {},
            "state": TrialState.QUEUED,
            "attempts": 0,
            "max_attempts": max_attempts,
            "attributes": each.attributes,
        }
        for number, each in enumerate(queued)
    ]
    tx.execute(insert(trials).values(free_at=now(), created_at=now()), rows)
    created = {"study_id": study_id, "who": who, "kind": "trial.created", "after": TrialState.QUEUED}
    data = {"origin": Origin.ENQUEUED.value}
    told = [{**created, "seq": number + 2, "trial": number, "data": data} for number in range(len(rows))]
    tx.execute(insert(events).values(at=now()), told)
    counts = {"trials": len(rows), "queued": len(rows), "events": len(rows) + 1}
    tx.execute(update(studies).where(studies.c.id == study_id).values(**counts))


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


def lowest_loss(tx: Transaction, study_id: StudyId) -> float | None:
    """Return the loss of the best succeeded trial of a study."""
    statement = select(func.min(trials.c.loss)).where(
        trials.c.study_id == study_id, trials.c.state == TrialState.SUCCEEDED
    )
    found: float | None = tx.execute(statement).scalar_one()
    return found


def next_queued(tx: Transaction, study_id: StudyId) -> Place | None:
    """Return the trial of a study that waits the longest. The study's row must be locked."""
    row = _NEXT_QUEUED.first(tx, {"of": study_id})
    return None if row is None else _place(row)


def at(tx: Transaction, trial_id: TrialId) -> Place:
    """Return where a trial known to exist stands. What it says holds while its study's row is locked."""
    return _place(_AT.one(tx, {"at": trial_id}))


def place(tx: Transaction, study: Study, number: int) -> Place:
    """Return where a trial stands, and lock it, as heartbeats do before its attempt. Raises TrialNotFound."""
    statement = select(*_PLACE).where(trials.c.study_id == study.id, trials.c.number == number)
    row = tx.execute(statement.with_for_update()).one_or_none()
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
    max_attempts: int | None,
) -> None:
    """Write where a trial is now, unless it is leased."""
    values: dict[str, Any] = {"at": place.id, "to": after, "because": cause}
    if after is TrialState.QUEUED:
        most = place.max_attempts if max_attempts is None else max_attempts
        _QUEUE.run(tx, {**values, "most": most})
    else:
        _FINISH.run(tx, {**values, "with_loss": loss})


def give(tx: Transaction, place: Place, lease: NewLease, cause: Cause | None) -> Given:
    """Write that a trial is leased."""
    values = {"at": place.id, "to": TrialState.RUNNING, "because": cause}
    row = _LEASE.one(tx, {**values, "lease": lease.id, "length": lease.milliseconds})
    config, start, seed, free_at = row  # SQLite 3.40 takes any column for not null where it returns that
    return Given(config if start is None else start, seed, free_at, start is not None)


def came_to(tx: Transaction, trial_id: TrialId, config: Config) -> None:
    """Write what a trial of an open study asked for; what it began with stays."""
    tx.execute(update(trials).where(trials.c.id == trial_id).values(config=config))


def annotate(tx: Transaction, trial_id: TrialId, **remarks: Any) -> None:
    """Write what a person remarks on a trial."""
    tx.execute(update(trials).where(trials.c.id == trial_id).values(**remarks))


def renew(tx: Transaction, lease_id: str) -> Renewed | None:
    """Extend a lease, even an expired one whose trial nobody has taken; None when it no longer holds."""
    row = _RENEW.first(tx, {"lease": lease_id})
    return None if row is None else Renewed(*row)


def is_overdue(tx: Transaction, trial_id: TrialId) -> bool:
    """Say whether its lease has expired, now that its study's row is locked."""
    statement = select(trials.c.id).where(
        trials.c.id == trial_id, trials.c.state == TrialState.RUNNING, trials.c.free_at <= now()
    )
    return tx.execute(statement.with_for_update()).one_or_none() is not None


def overdue(tx: Transaction, deaf_until: datetime, asked: Asked) -> Iterator[Overdue]:
    """Return running trials to give away, the longest overdue first; none before `deaf_until`."""
    if asked.is_empty:
        return
    for row in _overdue(asked.shape).every(tx, {"deaf": deaf_until, **asked.values}):
        trial_id, study_id, project, study, task, requires, version, retry = row
        if Cause.LOST in retry:  # else it is hopeless
            titles = Titles(project, study, task)
            yield Overdue(TrialId(trial_id), StudyId(study_id), titles, Requires(**requires), version)


@lru_cache(MOST_SHAPES)
def _overdue(shape: Shape) -> Prepared:
    statement = (
        select(
            trials.c.id,
            trials.c.study_id,
            projects.c.name,
            *(studies.c[name] for name in ("name", "task", "requires", "task_version", "retry")),
        )
        .join(studies, studies.c.id == trials.c.study_id)
        .join(projects, projects.c.id == studies.c.project_id)
        .where(
            *_expired(bindparam("deaf", type_=trials.c.free_at.type)),
            IS_LEASING,
            trials.c.attempts < trials.c.max_attempts,
            ~_has_late(),
        )
        .order_by(trials.c.free_at, trials.c.id)
    )
    return Prepared(narrowed(statement, shape))


def any_overdue(tx: Transaction, deaf_until: datetime) -> StudyId | None:
    """Return the study of the trial that is overdue the longest."""
    found = select(trials.c.study_id).where(*_expired(deaf_until)).order_by(trials.c.free_at).limit(1)
    study_id = tx.execute(found).scalar_one_or_none()
    return None if study_id is None else StudyId(study_id)


def hopeless(tx: Transaction, deaf_until: datetime) -> list[tuple[TrialId, StudyId]]:
    """Return running trials whose lease has expired and that nobody is given as they are."""
    rests = studies.c.reason.in_(sorted(EARLY)) | (studies.c.state != StudyState.ACTIVE)
    is_last = trials.c.attempts >= trials.c.max_attempts
    statement = (
        select(
            trials.c.id,
            trials.c.study_id,
            (rests | is_last | _has_late()).label("is_hopeless"),
            studies.c.retry,
        )
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
    row = _LEASED.first(tx, {"lease": lease_id})
    if row is None:
        return None
    number, attempt, config, seed, free_at, milliseconds, study, task, project, open_study = row
    return Leased(
        lease_id=lease_id,
        project=project,
        study=study,
        number=number,
        attempt=attempt,
        task=task,
        config=config,
        seed=seed,
        space=None if open_study is None else stored_asked.space(tx, StudyId(open_study)),
        expires_at=free_at,
        lease_seconds=milliseconds / 1000,
    )


def numbers(tx: Transaction, study_id: StudyId, begin: int, end: int) -> list[tuple[int | None, Config]]:
    """Return watermark and config of the trials numbered from `begin` on and below `end`, in order."""
    return [
        (watermark, config)
        for watermark, config in _NUMBERS.every(tx, {"of": study_id, "begin": begin, "end": end})
    ]


def best(tx: Transaction, study: Study, top: int) -> list[Ranked]:
    """Return the succeeded trials of smallest loss, best first; the earlier one first among equals."""
    return _ranked(tx, top, study.id, study.project, study.spec.name, study.spec.direction)


def best_of_all(
    tx: Transaction, project: str | None, top: int, comparison: ComparisonId | None = None
) -> list[Ranked]:
    """Return the best succeeded trial of each study, those of the newest studies first.

    Those are of one comparison, or else of none.
    """
    of = studies.c.comparison_id.is_(None) if comparison is None else studies.c.comparison_id == comparison
    statement = (
        select(studies.c.id, projects.c.name.label("project"), studies.c.name, studies.c.direction)
        .join(projects, projects.c.id == studies.c.project_id)
        .where(studies.c.succeeded > 0, studies.c.archived_at.is_(None), of)
        .order_by(studies.c.id.desc())
        .limit(top)
    )
    if project is not None:
        statement = statement.where(projects.c.name == project)
    return [
        each
        for study_id, project, name, direction in tx.execute(statement).all()
        for each in _ranked(tx, 1, study_id, project, name, Direction(direction))
    ]


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


def better(tx: Transaction, study_id: StudyId, loss: float, most: int) -> int:
    """Return how many succeeded trials of a study have a smaller loss, counting up to so many."""
    those = (trials.c.study_id == study_id, trials.c.state == TrialState.SUCCEEDED, trials.c.loss < loss)
    return _counted(tx, select(trials.c.loss).where(*those).order_by(trials.c.loss).limit(most))


def before_in_queue(tx: Transaction, study_id: StudyId, number: int, most: int) -> int:
    """Return how many trials of a study wait longer than this one, counting up to so many."""
    of = (trials.c.study_id == study_id, trials.c.number == number)
    own = tx.execute(select(trials.c.free_at, trials.c.id).where(*of)).one()
    columns = (trials.c.free_at, trials.c.id)
    is_before = tuple_(*columns) < tuple_(*own, types=[column.type for column in columns])
    waiting = (trials.c.study_id == study_id, trials.c.state == TrialState.QUEUED)
    return _counted(tx, select(trials.c.id).where(*waiting, is_before).order_by(*columns).limit(most))


def _counted(tx: Transaction, limited: Select[Any]) -> int:
    return int(tx.execute(select(func.count()).select_from(limited.subquery())).scalar_one())


def latest_reasons(tx: Transaction, study_id: StudyId, most: int) -> list[dict[str, Any]]:
    """Return the reasons of the latest proposals of a study, the newest first."""
    statement = (
        select(trials.c.reasons)
        .where(trials.c.study_id == study_id, trials.c.turn.is_not(None))
        .order_by(trials.c.turn.desc())
        .limit(most)
    )
    return list(tx.execute(statement).scalars())


def first_and_best(tx: Transaction, study_id: StudyId, most: int) -> list[tuple[int, float]]:
    """Return numbers and losses of the first and of the best trials that succeeded, so many of each."""
    succeeded = select(trials.c.number, trials.c.loss).where(
        trials.c.study_id == study_id, trials.c.state == TrialState.SUCCEEDED
    )
    parts = [
        succeeded.order_by(trials.c.number).limit(most),
        succeeded.order_by(trials.c.loss, trials.c.number).limit(most),
    ]
    both = union(*(select(part.subquery()) for part in parts))
    return [(number, loss) for number, loss in tx.execute(both)]


def last_finished(tx: Transaction, study_id: StudyId, last: int) -> list[datetime]:
    """Return when the last trials of a study finished."""
    statement = (
        select(trials.c.finished_at)
        .where(trials.c.study_id == study_id, trials.c.finished_at.is_not(None))
        .order_by(trials.c.number.desc())
        .limit(last)
    )
    return list(tx.execute(statement).scalars())


_NUMBERS: Final = Prepared(
    select(trials.c.watermark, _START)
    .where(
        trials.c.study_id == bindparam("of"),
        trials.c.number >= bindparam("begin"),
        trials.c.number < bindparam("end"),
    )
    .order_by(trials.c.number)
)
_LEASED: Final = Prepared(
    select(
        trials.c.number,
        trials.c.attempts,
        _START,
        trials.c.seed,
        trials.c.free_at,
        trials.c.lease_milliseconds,
        studies.c.name,
        studies.c.task,
        projects.c.name.label("project"),
        case((trials.c.start.is_not(None), studies.c.id)),
    )
    .join(studies, studies.c.id == trials.c.study_id)
    .join(projects, projects.c.id == studies.c.project_id)
    .where(
        trials.c.id == _OF_LEASE,
        trials.c.lease_id == bindparam("lease"),
        trials.c.state == TrialState.RUNNING,
    )
)


def _expired(deaf_until: Any) -> tuple[Any, ...]:
    return trials.c.state == TrialState.RUNNING, trials.c.free_at <= now(), now() >= deaf_until


def _has_late() -> ColumnElement[bool]:
    """Whether a trial has a result that came late: it needs no more attempts."""
    return exists().where(attempts.c.trial_id == trials.c.id, attempts.c.late.is_not(None))


def _ranked(
    tx: Transaction, top: int, study_id: StudyId, project: str, study: str, direction: Direction
) -> list[Ranked]:
    """Return the best of a study: from the index that has them in this order. SQLite sorts a join."""
    statement = (
        select(trials.c.number, trials.c.loss, trials.c.config, trials.c.seed)
        .where(trials.c.study_id == study_id, trials.c.state == TrialState.SUCCEEDED)
        .order_by(trials.c.loss, trials.c.number)
        .limit(top)
    )
    return [
        Ranked(
            rank=rank,
            project=project,
            study=study,
            number=row.number,
            loss=row.loss,
            value=direction.loss(row.loss),
            config=row.config,
            seed=row.seed,
        )
        for rank, row in enumerate(tx.execute(statement), start=1)
    ]


def _place(row: Sequence[Any]) -> Place:
    trial_id, study_id, number, state, *rest = row
    return Place(trial_id, study_id, number, TrialState(state), *rest)
