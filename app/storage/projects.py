"""Projects."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.errors import ProjectNotFound
from app.domain.project import Project, Quotas
from app.storage.store import Transaction
from app.storage.tables import now, projects


def add(tx: Transaction, name: str, quotas: Quotas) -> Project | None:
    """Store a new project; None when its name is taken."""
    statement = insert(projects).values(name=name, **asdict(quotas), created_at=now()).returning(projects)
    try:
        with tx.begin_nested():
            return _project(tx.execute(statement).one())
    except IntegrityError:
        return None


def named(tx: Transaction, name: str) -> Project:
    """Return the project. Raises ProjectNotFound."""
    row = tx.execute(select(projects).where(projects.c.name == name)).one_or_none()
    if row is None:
        raise ProjectNotFound(name)
    return _project(row)


def every(tx: Transaction, *, after: int, limit: int) -> list[Project]:
    """Return the projects whose id is above `after`, in order of creation."""
    rows = tx.execute(select(projects).where(projects.c.id > after).order_by(projects.c.id).limit(limit))
    return [_project(row) for row in rows]


def limit(tx: Transaction, project: Project, changed: dict[str, int | None]) -> Project:
    """Set the quotas that changed."""
    statement = update(projects).where(projects.c.id == project.id).values(**changed).returning(projects)
    return _project(tx.execute(statement).one())


def _project(row: Row[Any]) -> Project:
    return Project(
        id=row.id,
        name=row.name,
        quotas=Quotas(max_running=row.max_running, max_studies=row.max_studies),
        created_at=row.created_at,
    )
