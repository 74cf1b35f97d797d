"""Studies, and the counters on their rows. Whoever changes a study's row holds its lock until the commit."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Row, case, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.errors import StudyNotFound
from app.domain.study import Ending, Spec, Study, StudyId, StudyState
from app.storage.store import Transaction
from app.storage.tables import now, studies
from thiessen.space import Space


def add(tx: Transaction, spec: Spec) -> Study | None:
    """Store a new study; None when its name is taken."""
    settings = {setting: value for setting, value in spec.strategy.items() if setting != "name"}
    values = {
        **vars(spec),
        "space": spec.space.to_json(),
        "strategy": spec.strategy["name"],
        "strategy_settings": settings,
    }
    statement = insert(studies).values(
        **values, state=StudyState.ACTIVE, trials=0, observations=0, created_at=now()
    )
    try:
        with tx.begin_nested():
            row = tx.execute(statement.returning(studies)).one()
    except IntegrityError:
        return None
    return _study(row)


def named(tx: Transaction, name: str) -> Study:
    """Return the study. Raises StudyNotFound."""
    row = tx.execute(select(studies).where(studies.c.name == name)).one_or_none()
    if row is None:
        raise StudyNotFound(name)
    return _study(row)


def name_of(tx: Transaction, study_id: StudyId) -> str:
    """Return the name of a study known to exist."""
    name: str = tx.execute(select(studies.c.name).where(studies.c.id == study_id)).scalar_one()
    return name


def every(tx: Transaction, limit: int) -> list[Study]:
    """Return the newest studies first."""
    rows = tx.execute(select(studies).order_by(studies.c.id.desc()).limit(limit))
    return [_study(row) for row in rows]


def wanting_a_proposal(
    tx: Transaction,
    *,
    tasks: Collection[str],
    names: Collection[str] | None,
    passed_over: Collection[StudyId] = (),
) -> Study | None:
    """Return the oldest study with one of these tasks that has trials left to propose."""
    statement = select(studies).where(
        studies.c.state == StudyState.ACTIVE,
        studies.c.reason.is_(None),
        studies.c.trials < studies.c.max_trials,
        studies.c.task.in_(tasks),
        studies.c.id.not_in(passed_over),
    )
    if names is not None:
        statement = statement.where(studies.c.name.in_(names))
    row = tx.execute(statement.order_by(studies.c.id).limit(1)).one_or_none()
    return None if row is None else _study(row)


def take_number(tx: Transaction, study: Study) -> bool:
    """Take the trial number that was next when `study` was read; False if another was faster."""
    statement = (
        update(studies)
        .where(
            studies.c.id == study.id,
            studies.c.trials == study.trials,
            studies.c.trials < studies.c.max_trials,
            studies.c.state == StudyState.ACTIVE,
        )
        .values(trials=studies.c.trials + 1)
    )
    return tx.execute(statement).rowcount == 1


def end(tx: Transaction, study: Study, reason: Ending) -> None:
    """Propose no more; the study completes when its last trial has."""
    tx.execute(
        update(studies)
        .where(studies.c.id == study.id, studies.c.trials == study.trials, studies.c.reason.is_(None))
        .values(reason=reason)
    )
    _complete_if_done(tx, study.id)


def lock(tx: Transaction, study_id: StudyId) -> None:
    """Hold the study's row until the commit."""
    tx.execute(select(studies.c.id).where(studies.c.id == study_id).with_for_update())


def take_seq(tx: Transaction, study_id: StudyId) -> int:
    """Return the number of a new observation: gap-free, as the row stays locked until the commit."""
    statement = (
        update(studies)
        .where(studies.c.id == study_id)
        .values(observations=studies.c.observations + 1)
        .returning(studies.c.observations)
    )
    seq: int = tx.execute(statement).scalar_one()
    _complete_if_done(tx, study_id)
    return seq


def _complete_if_done(tx: Transaction, study_id: StudyId) -> None:
    all_proposed = (studies.c.trials == studies.c.max_trials) | studies.c.reason.is_not(None)
    tx.execute(
        update(studies)
        .where(studies.c.id == study_id, all_proposed, studies.c.observations == studies.c.trials)
        .values(
            state=StudyState.COMPLETED,
            reason=case((studies.c.reason.is_(None), literal(Ending.MAX_TRIALS)), else_=studies.c.reason),
        )
    )


def _study(row: Row[Any]) -> Study:
    return Study(
        id=StudyId(row.id),
        spec=Spec(
            name=row.name,
            task=row.task,
            space=Space.from_json(row.space),
            strategy={"name": row.strategy, **row.strategy_settings},
            seed=row.seed,
            max_trials=row.max_trials,
            max_attempts=row.max_attempts,
        ),
        state=StudyState(row.state),
        reason=None if row.reason is None else Ending(row.reason),
        trials=row.trials,
        observations=row.observations,
        created_at=row.created_at,
    )
