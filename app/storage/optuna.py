"""What a storage of Optuna keeps. Whoever changes a study or its trials holds its lock until the commit."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    JSON,
    Select,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from app.domain.errors import OptunaStudyNotFound, OptunaTrialNotFound, ProjectNotFound, QuotaUsedUp
from app.domain.optuna import Entry, Kind, OptunaState, OptunaStudy, OptunaStudyId, OptunaTrial, OptunaTrialId
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.tables import (
    FineInstant,
    later,
    now,
    optuna_attributes,
    optuna_dimensions,
    optuna_entries,
    optuna_studies,
    optuna_trials,
    projects,
)

LARGEST_PAGE: Final = 2_000_000  # characters of all that it lists, but for what is larger by itself


class Locked(NamedTuple):
    """A study that nobody else changes."""

    id: OptunaStudyId
    directions: Sequence[str]
    trials: int
    seq: int
    size: int


class Standing(NamedTuple):
    """A trial as it stands, but for its entries."""

    id: OptunaTrialId
    number: int
    seq: int
    state: OptunaState
    results: Sequence[Any] | None
    started_at: datetime | None
    completed_at: datetime | None
    size: int
    entries: int


_LOCKED: Final = (
    select(*(optuna_studies.c[name] for name in Locked._fields))
    .join(projects, projects.c.id == optuna_studies.c.project_id)
    .where(projects.c.name == bindparam("project"))
    .with_for_update(of=optuna_studies)
)
_LOCK: Final = Prepared(_LOCKED.where(optuna_studies.c.id == bindparam("study")))
_STUDY_OF: Final = select(optuna_trials.c.study_id).where(optuna_trials.c.id == bindparam("trial"))
_LOCK_OF: Final = Prepared(_LOCKED.where(optuna_studies.c.id == _STUDY_OF.scalar_subquery()))
_ADVANCE: Final = Prepared(
    update(optuna_studies)
    .where(optuna_studies.c.id == bindparam("study"))
    .values(trials=bindparam("new_trials"), seq=bindparam("new_seq"))
)
_STANDING: Final = [optuna_trials.c[name] for name in Standing._fields]
_STAND: Final = Prepared(select(*_STANDING).where(optuna_trials.c.id == bindparam("trial")))
_BEGIN: Final = Prepared(
    insert(optuna_trials).returning(optuna_trials.c.id),
    "study_id", "number", "seq", "state", "results", "started_at", "completed_at", "size", "entries",
)  # fmt: skip
_SET: Final = Prepared(
    update(optuna_trials)
    .where(optuna_trials.c.id == bindparam("trial"))
    .values(
        seq=bindparam("new_seq"),
        state=bindparam("new_state"),
        results=bindparam("new_results", type_=JSON(none_as_null=True)),
        started_at=bindparam("new_started_at", type_=FineInstant),
        completed_at=bindparam("new_completed_at", type_=FineInstant),
        size=bindparam("new_size"),
        entries=bindparam("new_entries"),
    )
)
_OF_ENTRY: Final = (
    (optuna_entries.c.trial_id == bindparam("trial"))
    & (optuna_entries.c.kind == bindparam("of_kind"))
    & (optuna_entries.c.name == bindparam("of_name"))
)
_OF_KIND: Final = Prepared(
    select(optuna_entries.c.name, optuna_entries.c.value)
    .where(optuna_entries.c.trial_id == bindparam("trial"), optuna_entries.c.kind == bindparam("of_kind"))
    .order_by(optuna_entries.c.place)
)
_LENGTH: Final = Prepared(select(func.length(optuna_entries.c.value)).where(_OF_ENTRY))
_ADD_ENTRY: Final = Prepared(insert(optuna_entries), "trial_id", "kind", "name", "place", "value")
_SET_ENTRY: Final = Prepared(update(optuna_entries).where(_OF_ENTRY).values(value=bindparam("new_value")))
_DISTRIBUTION: Final = Prepared(
    select(optuna_dimensions.c.distribution).where(
        optuna_dimensions.c.study_id == bindparam("study"), optuna_dimensions.c.name == bindparam("of_name")
    )
)
_IS_THERE: Final = Prepared(
    select(optuna_studies.c.id)
    .join(projects, projects.c.id == optuna_studies.c.project_id)
    .where(optuna_studies.c.id == bindparam("study"), projects.c.name == bindparam("project"))
)
_CHANGED: Final = (
    (optuna_trials.c.study_id == bindparam("study"))
    & (optuna_trials.c.seq > bindparam("since"))
    & (optuna_trials.c.seq <= bindparam("till"))
)
_SIZES: Final = Prepared(
    select(optuna_trials.c.seq, optuna_trials.c.size)
    .where(optuna_trials.c.study_id == bindparam("study"), optuna_trials.c.seq > bindparam("since"))
    .order_by(optuna_trials.c.seq)
    .limit(bindparam("most"))
)
_TRIAL: Final = (optuna_trials.c.study_id, *_STANDING)
_ENTRY: Final = (
    optuna_entries.c.trial_id,
    optuna_entries.c.kind,
    optuna_entries.c.name,
    optuna_entries.c.value,
)
_TRIALS: Final = Prepared(select(*_TRIAL).where(_CHANGED).order_by(optuna_trials.c.seq))
_ENTRIES: Final = Prepared(
    select(*_ENTRY)
    .join(optuna_trials, optuna_trials.c.id == optuna_entries.c.trial_id)
    .where(_CHANGED)
    .order_by(optuna_entries.c.trial_id, optuna_entries.c.place)
)
_ONE: Final = Prepared(
    select(*_TRIAL)
    .join(optuna_studies, optuna_studies.c.id == optuna_trials.c.study_id)
    .join(projects, projects.c.id == optuna_studies.c.project_id)
    .where(optuna_trials.c.id == bindparam("trial"), projects.c.name == bindparam("project"))
)
_ENTRIES_OF: Final = Prepared(
    select(*_ENTRY).where(optuna_entries.c.trial_id == bindparam("trial")).order_by(optuna_entries.c.place)
)


def create(tx: Transaction, project: str, name: str, directions: Sequence[str]) -> Locked | None:
    """Store a new study; None when its name is taken. Raises ProjectNotFound, QuotaUsedUp."""
    values = {"project_id": _with_room(tx, project), "name": name, "directions": directions}
    statement = insert(optuna_studies).values(**values, created_at=now()).returning(optuna_studies.c.id)
    try:
        with tx.begin_nested():
            study_id = tx.execute(statement).scalar_one()
    except IntegrityError:
        return None
    return locked(tx, project, study_id)


def _with_room(tx: Transaction, project: str) -> int:
    """Return the project's id if it may have one more study; Optuna's are counted by themselves."""
    asked = select(projects.c.id, projects.c.max_studies).where(projects.c.name == project)
    row = tx.execute(asked).one_or_none()
    if row is None:
        raise ProjectNotFound(project)
    if row.max_studies is not None:
        tx.execute(select(projects.c.id).where(projects.c.id == row.id).with_for_update())
        counted = select(func.count()).where(optuna_studies.c.project_id == row.id)
        if tx.execute(counted).scalar_one() >= row.max_studies:
            raise QuotaUsedUp(project, row.max_studies)
    return int(row.id)


def locked(tx: Transaction, project: str, study_id: int) -> Locked:
    """Lock a study. Raises OptunaStudyNotFound."""
    row = _LOCK.first(tx, {"project": project, "study": study_id})
    if row is None:
        raise OptunaStudyNotFound(study_id)
    return Locked(*row)


def locked_of(tx: Transaction, project: str, trial_id: int) -> Locked:
    """Lock the study of a trial. Raises OptunaTrialNotFound."""
    row = _LOCK_OF.first(tx, {"project": project, "trial": trial_id})
    if row is None:
        raise OptunaTrialNotFound(trial_id)
    return Locked(*row)


def advance(tx: Transaction, study: Locked, *, trials: int, seq: int) -> None:
    """Count what was added to a locked study and changed in it."""
    _ADVANCE.run(tx, {"study": study.id, "new_trials": trials, "new_seq": seq})


def page(
    tx: Transaction, project: str, limit: int, *, after: int = 0, name: str | None = None
) -> tuple[list[OptunaStudy], bool]:
    """Return studies of a project behind an id, oldest first; say if that is all. Large ones are fewer."""
    statement = _listed(project).where(optuna_studies.c.id > after).limit(limit + 1)
    if name is not None:
        statement = statement.where(optuna_studies.c.name == name)
    rows = tx.execute(statement).all()
    count = min(_fitting(row.size for row in rows), limit)
    return _with_attributes(tx, rows[:count]), count == len(rows)


def read(tx: Transaction, project: str, study_id: int) -> OptunaStudy:
    """Return a study. Raises OptunaStudyNotFound."""
    rows = tx.execute(_listed(project).where(optuna_studies.c.id == study_id)).all()
    if not rows:
        raise OptunaStudyNotFound(study_id)
    return _with_attributes(tx, rows)[0]


def _listed(project: str) -> Select[Any]:
    c = optuna_studies.c
    return (
        select(c.id, c.name, c.directions, c.size)
        .join(projects, projects.c.id == c.project_id)
        .where(projects.c.name == project)
        .order_by(c.id)
    )


def _fitting(sizes: Iterable[int]) -> int:
    """Return how many of the first fit into a page: one at least."""
    count = total = 0
    for count, size in enumerate(sizes, start=1):
        total += size
        if total > LARGEST_PAGE:
            return max(count - 1, 1)
    return count


def _with_attributes(tx: Transaction, rows: Sequence[Any]) -> list[OptunaStudy]:
    c = optuna_attributes.c
    found = tx.execute(
        select(c.study_id, c.kind, c.name, c.value)
        .where(c.study_id.in_([row.id for row in rows]))
        .order_by(c.study_id, c.kind, c.name)
    ).all()
    entries = _by_owner(found)
    return [
        OptunaStudy(id=row.id, name=row.name, directions=row.directions, attributes=entries.get(row.id, []))
        for row in rows
    ]


def _by_owner(rows: Iterable[Any]) -> dict[int, list[Entry]]:
    """Return the entries of each that has some, of rows in the order of their owners."""
    return {
        owner: [Entry(Kind(kind), name, text) for _, kind, name, text in of_one]
        for owner, of_one in groupby(rows, lambda row: int(row[0]))
    }


def set_attribute(tx: Transaction, study_id: OptunaStudyId, entry: Entry) -> int:
    """Set an attribute of a locked study; return by how much they have grown."""
    c = optuna_attributes.c
    this = (c.study_id == study_id) & (c.kind == entry.kind) & (c.name == entry.name)
    length = tx.execute(select(func.length(c.value)).where(this)).scalar_one_or_none()
    if length is None:
        row = {"study_id": study_id, "kind": entry.kind, "name": entry.name, "value": entry.text}
        tx.execute(insert(optuna_attributes).values(**row))
        return entry.size
    tx.execute(update(optuna_attributes).where(this).values(value=entry.text))
    return len(entry.text) - int(length)


def resize(tx: Transaction, study_id: OptunaStudyId, size: int) -> None:
    """Note how much the attributes of a locked study take."""
    tx.execute(update(optuna_studies).where(optuna_studies.c.id == study_id).values(size=size))


def remove(tx: Transaction, study_id: OptunaStudyId) -> None:
    """Remove a locked study with all that it has."""
    of_study = select(optuna_trials.c.id).where(optuna_trials.c.study_id == study_id)
    tx.execute(delete(optuna_entries).where(optuna_entries.c.trial_id.in_(of_study)))
    for table in (optuna_trials, optuna_dimensions, optuna_attributes):
        tx.execute(delete(table).where(table.c.study_id == study_id))
    tx.execute(delete(optuna_studies).where(optuna_studies.c.id == study_id))


def distribution(tx: Transaction, study_id: OptunaStudyId, name: str) -> str | None:
    """Return the first distribution of a parameter in a locked study."""
    row = _DISTRIBUTION.first(tx, {"study": study_id, "of_name": name})
    return None if row is None else row[0]


def add_dimension(tx: Transaction, study_id: OptunaStudyId, name: str, text: str) -> int:
    """Store the first distribution of a parameter; return how many parameters the study has now."""
    tx.execute(insert(optuna_dimensions).values(study_id=study_id, name=name, distribution=text))
    counted = select(func.count()).where(optuna_dimensions.c.study_id == study_id)
    return int(tx.execute(counted).scalar_one())


def begin(tx: Transaction, study_id: OptunaStudyId, trial: Standing) -> Standing:
    """Store a trial of a locked study; return it with its id."""
    values = trial._asdict() | {"study_id": study_id}
    del values["id"]
    return trial._replace(id=_BEGIN.one(tx, values)[0])


def stand(tx: Transaction, trial_id: int) -> Standing:
    """Return a trial of a locked study."""
    id_, number, seq, state, *others = _STAND.one(tx, {"trial": trial_id})
    return Standing(id_, number, seq, OptunaState(state), *others)


def change(tx: Transaction, trial: Standing) -> None:
    """Store how a trial of a locked study stands now."""
    told = {f"new_{name}": value for name, value in trial._asdict().items() if name not in {"id", "number"}}
    _SET.run(tx, told | {"trial": trial.id})


def set_entry(tx: Transaction, trial: Standing, entry: Entry) -> Standing:
    """Set a entry of a trial; return the trial with what it takes now."""
    key = {"trial": trial.id, "of_kind": entry.kind, "of_name": entry.name}
    found = _LENGTH.first(tx, key)
    if found is None:
        return add_entry(tx, trial, entry)
    _SET_ENTRY.run(tx, key | {"new_value": entry.text})
    return trial._replace(size=trial.size + len(entry.text) - found[0])


def add_entry(tx: Transaction, trial: Standing, entry: Entry) -> Standing:
    """Add a entry that the trial does not have; return the trial with what it takes now."""
    row = {"trial_id": trial.id, "kind": entry.kind, "name": entry.name, "value": entry.text}
    _ADD_ENTRY.run(tx, row | {"place": trial.entries})
    return trial._replace(size=trial.size + entry.size, entries=trial.entries + 1)


def changed(
    tx: Transaction, project: str, study_id: int, *, since: int, limit: int
) -> tuple[list[OptunaTrial], bool]:
    """Return the trials that changed since a number, in the order of their last changes; say if that is all.

    Raises OptunaStudyNotFound.
    """
    if _IS_THERE.first(tx, {"project": project, "study": study_id}) is None:
        raise OptunaStudyNotFound(study_id)
    asked = {"study": study_id, "since": since}
    sizes = _SIZES.every(tx, asked | {"most": limit + 1})
    if not sizes:
        return [], True
    count = min(_fitting(size for _, size in sizes), limit)
    asked |= {"till": sizes[count - 1][0]}
    entries = _by_owner(_ENTRIES.every(tx, asked))
    return [_trial(row, entries.get(row[1], [])) for row in _TRIALS.every(tx, asked)], count == len(sizes)


def trial(tx: Transaction, project: str, trial_id: int) -> OptunaTrial:
    """Return a trial. Raises OptunaTrialNotFound."""
    row = _ONE.first(tx, {"project": project, "trial": trial_id})
    if row is None:
        raise OptunaTrialNotFound(trial_id)
    return _trial(row, _by_owner(_ENTRIES_OF.every(tx, {"trial": trial_id})).get(trial_id, []))


def _trial(row: Sequence[Any], entries: Sequence[Entry]) -> OptunaTrial:
    study_id, *stands = row
    found = Standing(*stands)
    return OptunaTrial(
        id=found.id,
        study_id=study_id,
        number=found.number,
        seq=found.seq,
        state=OptunaState(found.state),
        values=found.results,
        started_at=found.started_at,
        completed_at=found.completed_at,
        entries=entries,
    )


def entries(tx: Transaction, trial_id: OptunaTrialId, kind: Kind) -> dict[str, Any]:
    """Return by their names, as JSON, what a trial has of one kind, in the order in which they came."""
    return {name: json.loads(text) for name, text in _OF_KIND.every(tx, {"trial": trial_id, "of_kind": kind})}


def hear(tx: Transaction, project: str, trial_id: int) -> None:
    """Note that a trial goes on. Raises OptunaTrialNotFound."""
    of_project = (
        select(optuna_studies.c.id)
        .join(projects, projects.c.id == optuna_studies.c.project_id)
        .where(projects.c.name == project)
    )
    beaten = update(optuna_trials).where(
        optuna_trials.c.id == trial_id, optuna_trials.c.study_id.in_(of_project)
    )
    if not tx.execute(beaten.values(heard_at=now())).rowcount:
        raise OptunaTrialNotFound(trial_id)


def stale(tx: Transaction, project: str, study_id: int, *, silent_for: timedelta, limit: int) -> list[int]:
    """Return the running trials that sent heartbeats and stopped. Raises OptunaStudyNotFound."""
    if _IS_THERE.first(tx, {"project": project, "study": study_id}) is None:
        raise OptunaStudyNotFound(study_id)
    c = optuna_trials.c
    silent = select(c.id).where(
        c.study_id == study_id, c.heard_at < later(-silent_for), c.state == OptunaState.RUNNING
    )
    return list(tx.execute(silent.order_by(c.heard_at, c.id).limit(limit)).scalars())
