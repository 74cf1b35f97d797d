"""Projects: make one, read them, change their quotas."""

from dataclasses import asdict

from app.domain.access import Principal
from app.domain.errors import ProjectExists, ProjectNotFound
from app.domain.project import Project, Quotas
from app.storage import Transaction, audit, projects


def create(tx: Transaction, who: Principal, name: str, quotas: Quotas) -> tuple[Project, bool]:
    """Make a project, or find the same one; say whether it is new. Raises ProjectExists."""
    created = projects.add(tx, name, quotas)
    project = created or projects.named(tx, name)
    if project.quotas != quotas:
        raise ProjectExists(name)
    if created is not None:
        audit.append(tx, who.name, "project.created", f"project {name}", asdict(quotas))
    return project, created is not None


def named(tx: Transaction, who: Principal, name: str) -> Project:
    """Return a project that `who` sees. Raises ProjectNotFound."""
    if not who.sees(name):
        raise ProjectNotFound(name, who)
    return projects.named(tx, name)


def every(tx: Transaction, who: Principal, *, after: int, limit: int) -> list[Project]:
    """Return the projects made after one that `who` sees."""
    if who.project is None:
        return projects.every(tx, after=after, limit=limit)
    own = projects.named(tx, who.project)
    return [own] if own.id > after else []


def limit(tx: Transaction, who: Principal, name: str, changed: dict[str, int | None]) -> Project:
    """Change quotas; None removes one. Raises ProjectNotFound."""
    project = projects.named(tx, name)
    if not changed:
        return project
    audit.append(tx, who.name, "project.limited", f"project {name}", changed)
    return projects.limit(tx, project, changed)
