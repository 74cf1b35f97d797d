"""A project: a namespace of studies, with quotas."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """How much of the server a project may have at once; None is no limit."""

    max_running: int | None = None
    max_studies: int | None = None


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project as it is stored."""

    id: int
    name: str
    quotas: Quotas
    created_at: datetime
