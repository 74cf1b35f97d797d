"""Workers: what each has and can train, and when it was last heard."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, Final

from sqlalchemy import ScalarSelect, Select, bindparam, func, select, update

from app.domain.errors import WorkerNotFound
from app.storage.prepared import Prepared
from app.storage.store import Transaction
from app.storage.tables import attempts, now, projects, studies, tokens, trials, workers


@dataclass(frozen=True)
class Registered:
    """A worker as it registered itself."""

    name: str
    who: str
    incarnation: str
    slots: list[dict[str, Any]]
    labels: dict[str, str]
    tasks: list[dict[str, Any]]
    is_draining: bool
    registered_at: datetime
    seen_at: datetime
    running: int = 0


@dataclass(frozen=True)
class UnderWay:
    """An attempt that has not ended, and where."""

    worker: str
    device: str
    project: str
    study: str
    trial: int
    attempt: int
    started_at: datetime


_COLUMNS: Final = [
    workers.c[name]
    for name in (
        "name", "who", "incarnation", "devices", "labels", "tasks", "is_draining", "registered_at", "seen_at",
    )
]  # fmt: skip
_ONE: Final = Prepared(select(*_COLUMNS).where(workers.c.name == bindparam("of")))


def register(
    tx: Transaction,
    name: str,
    *,
    who: str,
    instead_of: str,
    incarnation: str,
    slots: list[dict[str, Any]],
    labels: dict[str, str],
    tasks: list[dict[str, Any]],
) -> Registered:
    """Store a worker, or what it says of itself now; a new incarnation is not draining.

    Nothing is stored over the worker of anybody but `instead_of`.
    """
    values = {
        "who": who,
        "incarnation": incarnation,
        "devices": slots,
        "slots": len(slots),
        "labels": labels,
        "tasks": tasks,
        "is_draining": False,
        "registered_at": now(),
        "seen_at": now(),
    }
    known = registered(tx, name)
    if known is not None and known.incarnation == incarnation:
        del values["is_draining"], values["registered_at"]
    dialect: Any = import_module(f"sqlalchemy.dialects.{tx.dialect.name}")  # not the other one too
    statement = dialect.insert(workers).values(
        name=name, **{"is_draining": False, "registered_at": now()} | values
    )
    tx.execute(
        statement.on_conflict_do_update(
            index_elements=[workers.c.name], set_=values, where=workers.c.who == instead_of
        )
    )
    found = registered(tx, name)
    if found is None:
        raise WorkerNotFound(name)
    return found


def registered(tx: Transaction, name: str) -> Registered | None:
    """Return a worker by its name."""
    row = _ONE.first(tx, {"of": name})
    return None if row is None else Registered(*row)


def every(tx: Transaction, project: str | None = None) -> list[Registered]:
    """Return all workers, the last seen first, with how many attempts each has under way.

    Of one project: those that may work for it, with its attempts alone.
    """
    running = select(func.count()).where(attempts.c.worker == workers.c.name, attempts.c.ended_at.is_(None))
    if project is not None:
        running = (
            running.join_from(attempts, trials).join(studies).where(studies.c.project_id == _id(project))
        )
    statement = _may_work_for(select(*_COLUMNS), project)
    statement = statement.add_columns(running.scalar_subquery().label("running"))
    statement = statement.order_by(workers.c.seen_at.desc(), workers.c.name)
    return [Registered(*tuple(row)) for row in tx.execute(statement)]


def under_way(tx: Transaction, names: Collection[str], project: str | None, most: int) -> list[UnderWay]:
    """Return the attempts that these workers have not ended, of one project or of all."""
    statement = (
        select(
            attempts.c.worker,
            attempts.c.device,
            projects.c.name,
            studies.c.name,
            trials.c.number,
            attempts.c.number,
            attempts.c.started_at,
        )
        .join_from(attempts, trials)
        .join(studies)
        .join(projects)
        .where(attempts.c.worker.in_(names), attempts.c.ended_at.is_(None))
    )
    if project is not None:
        statement = statement.where(projects.c.name == project)
    ordered = statement.order_by(attempts.c.worker, attempts.c.trial_id).limit(most)
    return [UnderWay(*tuple(row)) for row in tx.execute(ordered)]


def tasks(tx: Transaction, project: str | None = None) -> list[list[dict[str, Any]]]:
    """Return what each worker offers, of the last seen first; of those alone that may work for a project."""
    statement = _may_work_for(select(workers.c.tasks), project)
    return list(tx.scalars(statement.order_by(workers.c.seen_at.desc(), workers.c.name)))


def change(tx: Transaction, name: str, *, is_draining: bool) -> None:
    """Tell a worker to lease no more, or to go on. Raises WorkerNotFound."""
    statement = update(workers).where(workers.c.name == name).values(is_draining=is_draining)
    if tx.execute(statement).rowcount != 1:
        raise WorkerNotFound(name)


def seen(tx: Transaction, heard: Collection[tuple[str, str]]) -> None:
    """Write down which workers were heard just now, each from the one that speaks for it."""
    for name, who in sorted(heard):  # in one order everywhere, so that servers never deadlock
        found = (workers.c.name == name) & (workers.c.who == who)
        tx.execute(update(workers).where(found).values(seen_at=now()))


def _may_work_for(statement: Select[Any], project: str | None) -> Select[Any]:
    """Restrict a statement on workers to those whose token is bound to no other project."""
    if project is None:
        return statement
    statement = statement.outerjoin_from(workers, tokens, tokens.c.name == workers.c.who)
    return statement.where(tokens.c.project_id.is_(None) | (tokens.c.project_id == _id(project)))


def _id(project: str) -> ScalarSelect[Any]:
    return select(projects.c.id).where(projects.c.name == project).scalar_subquery()
