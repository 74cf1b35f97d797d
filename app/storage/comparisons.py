"""Comparisons, and what their studies have come to. Lock order: studies, then their comparison."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Row,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    type_coerce,
    update,
)
from sqlalchemy.exc import IntegrityError

from app.domain.comparison import Comparison, Found, Line, Tried
from app.domain.errors import ComparisonNotFound
from app.domain.study import ComparisonId, Direction, Ending, StudyId, StudyState
from app.domain.trial import TrialState
from app.storage.store import Transaction
from app.storage.tables import attempts, comparisons, now, projects, studies, trials
from thiessen.contract.comparisons import Unit

_WHOLE: Final = select(comparisons, projects.c.name.label("project")).join(
    projects, projects.c.id == comparisons.c.project_id
)
_SUCCEEDED: Final = trials.c.state == literal_column("'succeeded'")  # as the index by loss says it


def add(tx: Transaction, project_id: int, name: str, spec: dict[str, Any], **remarks: Any) -> bool:
    """Store a new comparison; say whether its name was free."""
    values = {"project_id": project_id, "name": name, "submitted": spec, "spec": spec, **remarks}
    try:
        with tx.begin_nested():
            tx.execute(
                insert(comparisons).values(**values, state=StudyState.ACTIVE, around=1, created_at=now())
            )
    except IntegrityError:
        return False
    return True


def named(tx: Transaction, project: str, name: str) -> Comparison:
    """Return the comparison. Raises ComparisonNotFound."""
    found = find(tx, project, name)
    if found is None:
        raise ComparisonNotFound(name)
    return found


def find(tx: Transaction, project: str, name: str) -> Comparison | None:
    """Return the comparison, if there is one of this name."""
    row = tx.execute(_WHOLE.where(projects.c.name == project, comparisons.c.name == name)).one_or_none()
    return None if row is None else _comparison(row)


def page(
    tx: Transaction, project: str, limit: int, *, before: int | None = None, state: StudyState | None = None
) -> list[Comparison]:
    """Return the newest comparisons of a project, those before an id when one is given."""
    statement = _WHOLE.where(projects.c.name == project, comparisons.c.archived_at.is_(None))
    if before is not None:
        statement = statement.where(comparisons.c.id < before)
    if state is not None:
        statement = statement.where(comparisons.c.state == state)
    return [_comparison(row) for row in tx.execute(statement.order_by(comparisons.c.id.desc()).limit(limit))]


def lock(tx: Transaction, of: ComparisonId) -> Comparison:
    """Hold the comparison's row until the commit, and return it."""
    return _comparison(tx.execute(_WHOLE.where(comparisons.c.id == of).with_for_update(of=comparisons)).one())


def lock_studies(tx: Transaction, of: ComparisonId) -> list[StudyId]:
    """Hold the rows of all studies of a comparison until the commit."""
    statement = select(studies.c.id).where(studies.c.comparison_id == of).order_by(studies.c.id)
    return [StudyId(study_id) for study_id in tx.execute(statement.with_for_update()).scalars()]


def observations(tx: Transaction, of: ComparisonId) -> int:
    """Return how many observations there are in all studies of a comparison."""
    statement = select(func.coalesce(func.sum(studies.c.observations), 0))
    return int(tx.execute(statement.where(studies.c.comparison_id == of)).scalar_one())


def rounds(tx: Transaction, of: ComparisonId) -> list[tuple[StudyId, int | None]]:
    """Return the studies of a comparison, each with the round in which it confirms, none if it searches."""
    statement = select(studies.c.id, studies.c.around).where(studies.c.comparison_id == of)
    return [(StudyId(study_id), around) for study_id, around in tx.execute(statement.order_by(studies.c.id))]


def change(tx: Transaction, of: ComparisonId, **values: Any) -> None:
    """Write these columns of a comparison's row."""
    tx.execute(update(comparisons).where(comparisons.c.id == of).values(**values))


def complete(tx: Transaction, of: ComparisonId) -> None:
    """Write that nothing is left to do."""
    change(tx, of, state=StudyState.COMPLETED, completed_at=now())


def archive(tx: Transaction, of: ComparisonId, state: StudyState) -> None:
    """Take a comparison out of every list."""
    change(tx, of, state=state, archived_at=now())


def remove(tx: Transaction, of: ComparisonId) -> None:
    """Remove a comparison's row; its studies are gone."""
    tx.execute(delete(comparisons).where(comparisons.c.id == of))


def is_searched(tx: Transaction, of: ComparisonId) -> bool:
    """Say whether every search has come to its end."""
    return not _are_left(tx, of, studies.c.around.is_(None))


def is_confirmed(tx: Transaction, of: ComparisonId, around: int) -> bool:
    """Say whether everything that confirms in a round has come to its end."""
    return not _are_left(tx, of, studies.c.around == around)


def is_confirming(tx: Transaction, of: ComparisonId, around: int) -> bool:
    """Say whether there are studies that confirm in a round."""
    statement = select(studies.c.id).where(studies.c.comparison_id == of, studies.c.around == around)
    return tx.execute(statement.limit(1)).one_or_none() is not None


def _are_left(tx: Transaction, of: ComparisonId, those: Any) -> bool:
    statement = select(studies.c.id).where(
        studies.c.comparison_id == of, those, studies.c.state != StudyState.COMPLETED
    )
    return tx.execute(statement.limit(1)).one_or_none() is not None


_BEGAN, _ENDED = (type_coerce(attempts.c[name], BigInteger) for name in ("started_at", "ended_at"))
_SPENT: Final[dict[Unit, ColumnElement[Any]]] = {  # by a trial, in its last attempt
    "trials": literal_column("1", Integer),
    "updates": func.coalesce(case((attempts.c.last_step > 0, attempts.c.last_step), else_=0), 0),
    "seconds": case((_ENDED > _BEGAN, _ENDED - _BEGAN), else_=0) / 1000.0,
}
_LAST: Final = (attempts.c.trial_id == trials.c.id) & (attempts.c.number == trials.c.attempts)
_HAS_ENDED: Final = trials.c.state.not_in([TrialState.QUEUED, TrialState.RUNNING])


def best(tx: Transaction, of: ComparisonId, arm: str, most: int, unit: Unit, budget: float) -> list[Found]:
    """Return the best trials of each search of an arm, up to so many of each, by replicate and rank.

    Only those that had ended when the budget was spent.
    """
    spent = func.sum(_SPENT[unit]).over(
        partition_by=trials.c.study_id, order_by=(trials.c.finished_at, trials.c.number)
    )
    tried = (
        select(
            studies.c.replicate,
            *(trials.c[name] for name in ("number", "loss", "config", "state")),
            spent.label("spent"),
        )
        .join(studies, studies.c.id == trials.c.study_id)
        .outerjoin(attempts, _LAST)
        .where(studies.c.comparison_id == of, studies.c.around.is_(None), studies.c.arm == arm, _HAS_ENDED)
        .subquery()
    )
    rank = func.row_number().over(partition_by=tried.c.replicate, order_by=(tried.c.loss, tried.c.number))
    in_time = (tried.c.state == TrialState.SUCCEEDED) & (tried.c.spent <= budget)
    ranked = select(*tried.c, rank.label("rank")).where(in_time).subquery()
    found = select(*(ranked.c[name] for name in ("replicate", "number", "loss", "config", "rank")))
    found = found.where(ranked.c.rank <= most).order_by(ranked.c.replicate, ranked.c.rank)
    return [Found._make(row) for row in tx.execute(found)]


def ended(tx: Transaction, of: ComparisonId) -> Iterator[Tried]:
    """Yield every trial that has ended in the searches and runs of a comparison, in the order of ends."""
    seconds = (_SPENT["seconds"]).label("seconds")
    statement = (
        select(
            trials.c.study_id,
            *(trials.c[name] for name in ("number", "state", "loss", "config")),
            _SPENT["updates"],
            seconds,
            attempts.c.task_version,
        )
        .join(studies, studies.c.id == trials.c.study_id)
        .outerjoin(attempts, _LAST)
        .where(studies.c.comparison_id == of, _HAS_ENDED)
        .order_by(trials.c.study_id, trials.c.finished_at, trials.c.number)
    )
    return (Tried._make(row) for row in tx.execute(statement))


def confirmed(tx: Transaction, of: ComparisonId, around: int) -> dict[StudyId, list[Sequence[Any]]]:
    """Return what each study of a round confirms: of each config replicate, trial and loss."""
    statement = select(studies.c.id, studies.c.confirms)
    statement = statement.where(studies.c.comparison_id == of, studies.c.around == around)
    return {StudyId(study_id): confirms for study_id, confirms in tx.execute(statement)}


_COUNTED: Final = [studies.c[name] for name in Line._fields if name != "best"]
_BEST: Final = (
    select(trials.c.loss)
    .where(trials.c.study_id == studies.c.id, _SUCCEEDED)
    .order_by(trials.c.loss, trials.c.number)
    .limit(1)
    .scalar_subquery()
)


def lines(tx: Transaction, of: Sequence[ComparisonId]) -> Iterator[Line]:
    """Yield the studies of these comparisons, as they were made."""
    statement = select(*_COUNTED, _BEST).where(studies.c.comparison_id.in_(of)).order_by(studies.c.id)
    for row in tx.execute(statement):
        line = Line._make(row)
        yield line._replace(
            state=StudyState(line.state),
            reason=None if line.reason is None else Ending(line.reason),
            direction=Direction(line.direction),
        )


def _comparison(row: Row[Any]) -> Comparison:
    values = row._asdict()
    return Comparison(**{**values, "state": StudyState(row.state)})
