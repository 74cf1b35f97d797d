"""Who acts, and what they may."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """A kind of thing that a token may be used for. `admin` implies all; the others imply nothing else."""

    READ = "read"
    SUBMIT = "submit"
    WORK = "work"
    ADMIN = "admin"


@dataclass(frozen=True)
class Principal:
    """Who acts: the name of a token, what it may, and the only project that there is for it."""

    name: str
    scopes: frozenset[Scope]
    project: str | None = None

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def sees(self, project: str) -> bool:
        return self.project in {None, project}


ANONYMOUS: Final = Principal("anonymous", frozenset(Scope))  # everybody, where no tokens are required
CONSOLE: Final = Principal("console", frozenset(Scope))  # who has the database itself
RESERVED: Final = frozenset(
    {ANONYMOUS.name, CONSOLE.name, "server"}
)  # a token of this name would be taken for it


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token as its row keeps it: without its secret."""

    id: int
    name: str
    scopes: frozenset[Scope]
    project: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Deed:
    """A line of the audit: who did what, to which thing."""

    id: int
    at: datetime
    who: str
    action: str
    subject: str
    data: dict[str, object] | None
