"""Studies, and the counters on their rows. Whoever changes a study's row holds its lock until the commit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    JSON,
    BindParameter,
    Float,
    Integer,
    Row,
    Select,
    String,
    Update,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from app.domain.comparison import Part
from app.domain.errors import ProjectNotFound, QuotaUsedUp, StudyNotFound
from app.domain.optuna import OptunaStudyId
from app.domain.study import (
    EARLY,
    MILLISECONDS_PER_HOUR,
    Budget,
    ComparisonId,
    Direction,
    Duplicates,
    Ending,
    Remarks,
    Requires,
    Spec,
    Standing,
    Study,
    StudyId,
    StudyState,
)
from app.domain.trial import Cause
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.tables import (
    asked,
    attempts,
    comparisons,
    events,
    milliseconds,
    now,
    observations,
    projects,
    reports,
    studies,
    trials,
    webhook_cursors,
    workers,
)
from thiessen.space import Space

STANDING: Final = [studies.c[name] for name in Standing._fields]
FIRST: Final = 8  # studies that are looked at for a slot; mostly it is the first
MOST_WANTING: Final = 1_000_000
AT_ONCE: Final = 500  # names asked for in one statement
LEASES: Final = "leases"  # counted with `served`, not by a number of its own

MOST_SHAPES: Final = 256  # of statements that are kept
_WANTED: Final = (
    "id", "name", "task", "requires", "task_version", "queued", "trials", "observations",
)  # fmt: skip
_STAND: Final = Prepared(select(*STANDING).where(studies.c.id == bindparam("of")))
_MIRROR: Final = Prepared(
    select(studies.c.id)
    .where(studies.c.mirrors == bindparam("mirrored"), studies.c.archived_at.is_(None))
    .with_for_update()
)
_LOCK: Final = Prepared(select(*STANDING).where(studies.c.id == bindparam("of")).with_for_update())
IS_LEASING: Final = (
    (studies.c.state == StudyState.ACTIVE)
    & studies.c.archived_at.is_(None)
    & studies.c.mirrors.is_(None)
    & (studies.c.reason.is_(None) | studies.c.reason.not_in([literal(reason) for reason in sorted(EARLY)]))
    & (studies.c.deadline.is_(None) | (studies.c.deadline > now()))
)
"""Whether anything of a study may be leased, budgets of what runs at once aside."""
WANTS: Final = (studies.c.queued > 0) | (
    studies.c.reason.is_(None) & (studies.c.trials - studies.c.imported < studies.c.max_trials)
)
"""Whether there is anything: a trial that waits, or one to propose."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which studies a worker asks for."""

    tasks: Collection[str]
    names: Collection[str] | None
    project: str | None

    @property
    def is_empty(self) -> bool:
        """Whether no study can be meant."""
        return not self.tasks or (self.names is not None and not self.names)

    @property
    def shape(self) -> "Shape":
        """What of it narrows a statement, of which there is one for each shape."""
        names = None if self.names is None else len(self.names)
        return Shape(len(self.tasks), names, by_project=self.project is not None)

    @property
    def values(self) -> dict[str, Any]:
        """What fills the statement."""
        filled = {f"task_{place}": task for place, task in enumerate(self.tasks)}
        filled |= {f"name_{place}": name for place, name in enumerate(self.names or ())}
        return filled if self.project is None else {**filled, "project": self.project}


class Shape(NamedTuple):
    """How many tasks and studies are asked for, and whether a project is."""

    tasks: int
    names: int | None
    by_project: bool


def narrowed(statement: Select[Any], shape: Shape) -> Select[Any]:
    """Return a statement on studies and projects that gives only what is asked for."""
    statement = statement.where(studies.c.task.in_(_places("task", shape.tasks)))
    if shape.names is None:  # what its program asks for, only who names a study can know
        statement = statement.where(studies.c.is_open.is_(False))
    else:
        statement = statement.where(studies.c.name.in_(_places("name", shape.names)))
    if shape.by_project:
        statement = statement.where(projects.c.name == bindparam("project"))
    return statement


def _places(name: str, count: int) -> list[BindParameter[str]]:
    return [bindparam(f"{name}_{place}", type_=String) for place in range(count)]


@dataclass(frozen=True)
class Titles:
    """By which names people know what is leased."""

    project: str
    study: str
    task: str


@dataclass(frozen=True)
class Wanting:
    """A study that has something to lease."""

    id: StudyId
    titles: Titles
    requires: Requires
    task_version: str | None  # which a worker must have
    queued: int
    trials: int
    observations: int
    has_quota: bool  # its project has
    floor: float  # where its share of the workers begins to count


def add(
    tx: Transaction,
    project: str,
    spec: Spec,
    budget: Budget,
    remarks: Remarks,
    submitted: Mapping[str, Any],
    mirrors: OptunaStudyId | None = None,
) -> Study | None:
    """Store a new study; None when its name is taken. Raises ProjectNotFound, QuotaUsedUp."""
    project_id = _with_room(tx, project, spec.name, counts=mirrors is None)
    values = {
        **_columns(spec, budget, remarks),
        "project_id": project_id,
        "submitted": submitted,
        "mirrors": mirrors,
    }
    try:
        with tx.begin_nested():
            tx.execute(insert(studies).values(**values, created_at=now()))
    except IntegrityError:
        return None
    return named(tx, project, spec.name)


def add_parts(tx: Transaction, project_id: int, of: ComparisonId, parts: Sequence[Part], who: str) -> bool:
    """Store studies of a comparison, and that they were made; say whether all of their names were free."""
    rows = [
        {
            **_columns(part.spec, part.budget, part.remarks),
            **part.place._asdict(),
            "state": part.state,
            "submitted": part.submitted,
            "project_id": project_id,
            "comparison_id": of,
            "events": 1,
        }
        for part in parts
    ]
    try:
        with tx.begin_nested():
            tx.execute(insert(studies).values(created_at=now()), rows)
    except IntegrityError:
        return False
    told = (now(), literal(1), literal(who), literal("study.created"), literal({}, JSON))
    made = select(studies.c.id, *told).where(
        studies.c.comparison_id == of, ~exists().where(events.c.study_id == studies.c.id)
    )
    columns = ["study_id", "at", "seq", "who", "kind", "data"]
    tx.execute(insert(events).from_select(columns, made))
    return True


def taken(tx: Transaction, project_id: int, names: Sequence[str]) -> str | None:
    """Return one of these names that a study of the project has."""
    for begin in range(0, len(names), AT_ONCE):
        some = names[begin : begin + AT_ONCE]
        found = select(studies.c.name).where(studies.c.project_id == project_id, studies.c.name.in_(some))
        if (name := tx.execute(found.limit(1)).scalar_one_or_none()) is not None:
            return str(name)
    return None


def _columns(spec: Spec, budget: Budget, remarks: Remarks) -> dict[str, Any]:
    """Return what the row of a new study has of its words."""
    settings = {setting: value for setting, value in spec.strategy.items() if setting != "name"}
    return {
        **vars(spec),
        **vars(budget),
        **vars(remarks),
        "space": spec.space.declaration,
        "is_open": spec.space.is_open,
        "strategy": spec.strategy["name"],
        "strategy_settings": settings,
        "requires": vars(spec.requires),
        "state": StudyState.ACTIVE,
        "trials": 0,
        "observations": 0,
    }


def _with_room(tx: Transaction, project: str, name: str, *, counts: bool) -> int:
    """Return the project's id if it may have one more study, or has this one already; no mirror counts."""
    row = tx.execute(
        select(projects.c.id, projects.c.max_studies).where(projects.c.name == project)
    ).one_or_none()
    if row is None:
        raise ProjectNotFound(project)
    if counts and row.max_studies is not None:
        others = _counted_of(tx, row.id, but=name)
        if others >= row.max_studies:
            raise QuotaUsedUp(project, row.max_studies)
    return int(row.id)


def room_for(tx: Transaction, project: str, more: int) -> int:
    """Return the project's id if it may have so many more studies. Raises ProjectNotFound, QuotaUsedUp."""
    statement = select(projects.c.id, projects.c.max_studies).where(projects.c.name == project)
    row = tx.execute(statement).one_or_none()
    if row is None:
        raise ProjectNotFound(project)
    if row.max_studies is not None and _counted_of(tx, row.id) + more > row.max_studies:
        raise QuotaUsedUp(project, row.max_studies, more)
    return int(row.id)


def _counted_of(tx: Transaction, project_id: int, but: str = "") -> int:
    """Return how many studies of a project its quota counts; its row stays locked until the commit."""
    tx.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update())
    others = select(func.count()).where(
        studies.c.project_id == project_id,
        studies.c.archived_at.is_(None),
        studies.c.mirrors.is_(None),
        studies.c.name != but,
    )
    return int(tx.execute(others).scalar_one())


def named(tx: Transaction, project: str, name: str) -> Study:
    """Return the study. Raises StudyNotFound."""
    statement = _WHOLE.where(projects.c.name == project, studies.c.name == name)
    row = tx.execute(statement).one_or_none()
    if row is None:
        raise StudyNotFound(name)
    return _study(row)


def numbered(tx: Transaction, study_id: StudyId) -> Study:
    """Return a study known to exist."""
    return _study(tx.execute(_WHOLE.where(studies.c.id == study_id)).one())


def mirror_of(tx: Transaction, optuna_study: OptunaStudyId) -> Study | None:
    """Lock the mirror of a study of Optuna and return it; None where there is none, or none any more."""
    row = _MIRROR.first(tx, {"mirrored": optuna_study})
    return None if row is None else numbered(tx, StudyId(row[0]))


def page(
    tx: Transaction,
    project: str,
    limit: int,
    *,
    before: int | None = None,
    state: StudyState | None = None,
    tag: str | None = None,
    prefix: str = "",
    is_archived: bool = False,
    comparison: ComparisonId | None = None,
) -> list[Study]:
    """Return the newest studies of a project, archived or not, those before an id when one is given.

    Those are of one comparison, or else of none.

    Names and tags are compared letter by letter: LIKE does not tell A from a on every database.
    """
    in_list = studies.c.archived_at.is_not(None) if is_archived else studies.c.archived_at.is_(None)
    of = studies.c.comparison_id.is_(None) if comparison is None else studies.c.comparison_id == comparison
    statement = _WHOLE.where(projects.c.name == project, in_list, of)
    if before is not None:
        statement = statement.where(studies.c.id < before)
    if state is not None:
        statement = statement.where(studies.c.state == state)
    if tag is not None:
        tags = cast(studies.c.tags, String)
        statement = statement.where(func.replace(tags, f'"{tag}"', "") != tags)
    if prefix:
        statement = statement.where(func.substr(studies.c.name, 1, len(prefix)) == prefix)
    return [_study(row) for row in tx.execute(statement.order_by(studies.c.id.desc()).limit(limit))]


def remove(tx: Transaction, study_id: StudyId) -> None:
    """Remove a study's row with every row that speaks of it."""
    of_study = select(trials.c.id).where(trials.c.study_id == study_id)
    for table in (reports, attempts):
        tx.execute(delete(table).where(table.c.trial_id.in_(of_study)))
    for table in (asked, observations, events, webhook_cursors, trials):
        tx.execute(delete(table).where(table.c.study_id == study_id))
    tx.execute(delete(studies).where(studies.c.id == study_id))


@dataclass(frozen=True)
class Orders:
    """What decides the orders to a worker: where its study stands, and how curves are judged."""

    state: StudyState
    reason: Ending | None
    direction: Direction
    stopping: Mapping[str, Any] | None
    who: str  # took the lease
    worker: str
    is_draining: bool


def orders(tx: Transaction, study_id: StudyId, lease_id: str) -> Orders:
    """Return what decides the orders to the worker that has this lease on a trial of a study."""
    row = _ORDERS.one(tx, {"of": study_id, "lease": lease_id})
    state, reason, direction, stopping, who, worker, is_draining = row
    return Orders(
        StudyState(state),
        None if reason is None else Ending(reason),
        Direction(direction),
        stopping,
        who,
        worker,
        bool(is_draining),
    )


def lock(tx: Transaction, study_id: StudyId) -> Standing:
    """Hold the study's row until the commit, and return what it counts."""
    return standing_of(_LOCK.one(tx, {"of": study_id}))


def standing(tx: Transaction, study_id: StudyId) -> Standing:
    """Return what the study's row counts."""
    return standing_of(_STAND.one(tx, {"of": study_id}))


def count(
    tx: Transaction, study_id: StudyId, *, locked: Standing | None = None, floor: float = -1.0, **more: int
) -> Standing:
    """Add to the counters of a study's row, which stays locked until the commit; return what it counts then.

    What is given with `gpus` starts or ends to use them; `leases` makes other studies come first. Who holds
    the row and knows what it counts need not wait for an answer; GPU time is then as it was.
    """
    changed = {name: number for name, number in more.items() if number}
    values = {f"more_{name}": number for name, number in changed.items()} | {"of": study_id, "floor": floor}
    names = tuple(sorted(changed))
    if locked is None:
        return standing_of(_counted(names).one(tx, values))
    _count(names).run(tx, values)
    return locked._replace(
        **{name: getattr(locked, name) + number for name, number in changed.items() if name != LEASES}
    )


@lru_cache(MOST_SHAPES)
def _counted(names: Sequence[str]) -> Prepared:
    return Prepared(_adding(names).returning(*STANDING))


@lru_cache(MOST_SHAPES)
def _count(names: Sequence[str]) -> Prepared:
    return Prepared(_adding(names))


def _adding(names: Sequence[str]) -> Update:
    """Return the statement that adds to these counters, and to what follows from them."""
    more = {name: bindparam(f"more_{name}", type_=studies.c[name].type) for name in names if name != LEASES}
    more |= {LEASES: bindparam(f"more_{LEASES}", type_=Integer)} if LEASES in names else {}
    values: dict[Any, Any] = {
        studies.c[name]: studies.c[name] + more[name] for name in names if name != LEASES
    }
    if "gpus_running" in more:
        used = more["gpus_running"] * milliseconds()
        values[studies.c.gpu_milliseconds] = studies.c.gpu_milliseconds - used
    if LEASES in more:
        floor = bindparam("floor", type_=Float)
        served = case((studies.c.served < floor, floor), else_=studies.c.served)
        values[studies.c.served] = served + more[LEASES] / (1.0 * studies.c.priority)
    return update(studies).where(studies.c.id == bindparam("of")).values(values)


def change(tx: Transaction, study_id: StudyId, **values: Any) -> None:
    """Write these columns of a study's row."""
    tx.execute(update(studies).where(studies.c.id == study_id).values(**values))


def settle(tx: Transaction, study_id: StudyId, state: StudyState, reason: Ending | None) -> None:
    """Write whether a study goes on."""
    is_over = state is StudyState.COMPLETED
    values = {"completed_at": now()} if is_over else {"completed_at": None, "curves_removed": 0}
    change(tx, study_id, state=state, reason=reason, **values)


def archive(tx: Transaction, study_id: StudyId) -> None:
    """Take a study out of every list; nothing of it is leased any more."""
    change(tx, study_id, archived_at=now())


def name_of(tx: Transaction, study_id: StudyId) -> str:
    """Return the name of a study known to exist."""
    name: str = tx.execute(select(studies.c.name).where(studies.c.id == study_id)).scalar_one()
    return name


def retried(tx: Transaction, study_id: StudyId) -> list[str]:
    """Return after which faults the trials of a study are tried again."""
    causes: list[str] = tx.execute(select(studies.c.retry).where(studies.c.id == study_id)).scalar_one()
    return causes


def metric(tx: Transaction, study_id: StudyId) -> str | None:
    """Return which metric of the reports early stopping goes by."""
    stopping = tx.execute(select(studies.c.stopping).where(studies.c.id == study_id)).scalar_one()
    return None if stopping is None else str(stopping["metric"])


def wanting(tx: Transaction, asked: Asked) -> Iterator[Wanting]:
    """Return the studies that have something to lease, the one that has got least for its priority first."""
    if asked.is_empty:
        return
    for row in _in_turn(tx, asked):
        study_id, name, task, requires, version, *counted, max_running, project, most_served = row
        queued, numbered, observed = counted
        yield Wanting(
            StudyId(study_id),
            Titles(project, name, task),
            _requires(requires),
            version,
            queued,
            numbered,
            observed,
            has_quota=max_running is not None,
            floor=most_served - 1.0,  # who was idle for long has an advantage of at most one unit
        )


def _in_turn(tx: Transaction, asked: Asked) -> Iterator[Sequence[Any]]:
    """Yield the rows of studies that want something: the first few, then the others if none of those fits."""
    statement, first = _wanting(asked.shape), {"most": FIRST, "past": 0}
    rows = statement.every(tx, {**asked.values, **first})
    yield from rows
    if len(rows) == FIRST:
        yield from statement.every(tx, {**asked.values, "most": MOST_WANTING, "past": FIRST})


@lru_cache(MOST_SHAPES)
def _wanting(shape: Shape) -> Prepared:
    others = studies.alias()
    running = (
        select(func.coalesce(func.sum(others.c.running), 0))
        .where(others.c.project_id == studies.c.project_id)
        .scalar_subquery()
    )
    most_served = (
        select(func.max(others.c.served)).where(others.c.state == StudyState.ACTIVE).scalar_subquery()
    )
    used = studies.c.gpus_running * milliseconds() + studies.c.gpu_milliseconds
    statement = (
        select(
            *(studies.c[name] for name in _WANTED),
            projects.c.max_running,
            projects.c.name,
            most_served,
        )
        .join(projects, projects.c.id == studies.c.project_id)
        .where(
            IS_LEASING,
            WANTS,
            studies.c.max_running.is_(None) | (studies.c.running < studies.c.max_running),
            studies.c.max_gpu_hours.is_(None) | (used < studies.c.max_gpu_hours * MILLISECONDS_PER_HOUR),
            projects.c.max_running.is_(None) | (projects.c.max_running > running),
        )
        .order_by(studies.c.served, studies.c.id)
        .limit(bindparam("most", type_=Integer))
        .offset(bindparam("past", type_=Integer))
    )
    return Prepared(narrowed(statement, shape))


def has_quota_left(tx: Transaction, study_id: StudyId) -> bool:
    """Say whether the study's project may run one more; its row stays locked until the commit."""
    statement = (
        select(projects.c.id, projects.c.max_running)
        .join(studies, studies.c.project_id == projects.c.id)
        .where(studies.c.id == study_id)
        .with_for_update(of=projects)
    )
    project = tx.execute(statement).one()
    running = select(func.sum(studies.c.running)).where(studies.c.project_id == project.id)
    return project.max_running is None or int(tx.execute(running).scalar_one()) < project.max_running


def pin(tx: Transaction, study_id: StudyId, version: str) -> None:
    """Hold a study to the first version of its task that was leased, unless it allows others."""
    is_free = studies.c.task_version.is_(None) & studies.c.allow_versions.is_(False)
    tx.execute(update(studies).where(studies.c.id == study_id, is_free).values(task_version=version))


def over_time(tx: Transaction, limit: int = 100) -> list[tuple[StudyId, Ending]]:
    """Return studies whose deadline has passed or whose GPU hours are used up, and which go on still."""
    used = studies.c.gpus_running * milliseconds() + studies.c.gpu_milliseconds
    is_late = studies.c.deadline <= now()
    statement = (
        select(studies.c.id, case((is_late, Ending.DEADLINE.value), else_=Ending.MAX_GPU_HOURS.value))
        .where(
            studies.c.state.in_([StudyState.ACTIVE, StudyState.PAUSED]),
            studies.c.reason.is_(None) | studies.c.reason.not_in(sorted(EARLY)),
            or_(is_late, used >= studies.c.max_gpu_hours * MILLISECONDS_PER_HOUR),
        )
        .limit(limit)
    )
    return [(StudyId(study_id), Ending(ending)) for study_id, ending in tx.execute(statement)]


_ORDERS: Final = Prepared(
    select(
        studies.c.state,
        studies.c.reason,
        studies.c.direction,
        studies.c.stopping,
        attempts.c.who,
        attempts.c.worker,
        workers.c.is_draining,
    )
    .select_from(
        studies.join(attempts, attempts.c.lease_id == bindparam("lease")).outerjoin(
            workers, workers.c.name == attempts.c.worker
        )
    )
    .where(studies.c.id == bindparam("of"))
)
_WHOLE: Final = (
    select(studies, projects.c.name.label("project"), comparisons.c.name.label("comparison"))
    .join(projects, projects.c.id == studies.c.project_id)
    .outerjoin(comparisons, comparisons.c.id == studies.c.comparison_id)
)


def _requires(stored: Mapping[str, Any]) -> Requires:
    return Requires(**stored)


def standing_of(row: Sequence[Any]) -> Standing:
    """Return what the columns `STANDING` of a study's row say."""
    study_id, project_id, state, reason = row[:4]
    return Standing(
        study_id, project_id, StudyState(state), None if reason is None else Ending(reason), *row[4:]
    )


def _study(row: Row[Any]) -> Study:
    values = row._asdict()
    return Study(
        id=StudyId(row.id),
        project=row.project,
        spec=Spec(
            name=row.name,
            task=row.task,
            space=Space.declared(row.space),
            strategy={"name": row.strategy, **row.strategy_settings},
            seed=row.seed,
            max_attempts=row.max_attempts,
            direction=Direction(row.direction),
            retry=tuple(Cause(cause) for cause in row.retry),
            stopping=row.stopping,
            duplicates=Duplicates(row.duplicates),
            failures_repel=row.failures_repel,
            allow_versions=row.allow_versions,
            requires=_requires(row.requires),
        ),
        budget=Budget(**{field.name: values[field.name] for field in fields(Budget)}),
        remarks=Remarks(
            priority=row.priority, tags=tuple(row.tags), notes=row.notes, attributes=row.attributes
        ),
        standing=standing_of([values[column.name] for column in STANDING]),
        task_version=row.task_version,
        submitted=row.submitted,
        created_at=row.created_at,
        completed_at=row.completed_at,
        archived_at=row.archived_at,
        mirrors=row.mirrors,
        comparison=row.comparison,
    )
