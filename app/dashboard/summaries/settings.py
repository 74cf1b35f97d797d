"""Settings: the tokens and the projects of the server."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from app.dashboard.sent import Fault, Form, by_field
from app.domain.access import Principal, Scope, Token
from app.domain.project import Project
from app.house import House
from app.lifecycle import access, projects
from app.storage import Transaction, clock, workers

MOST_LISTED: Final = 100
SCOPES: Final[Mapping[Scope, str]] = {
    Scope.READ: "see studies, trials and the fleet",
    Scope.SUBMIT: "create studies, change them, add trials",
    Scope.WORK: "train trials, as a worker does",
    Scope.ADMIN: "everything, tokens and projects too",
}


@dataclass(frozen=True)
class TokenLine:
    """One token, without its secret."""

    name: str
    scopes: list[tuple[str, str]]  # with what each is for
    project: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    state: str
    workers: list[str]  # that came with it


@dataclass(frozen=True, kw_only=True)
class _WithForm:
    """A page with one form: what was sent, and what is wrong with it."""

    form: Form = field(default_factory=Form)
    faults: Sequence[Fault] = ()

    @property
    def wrong(self) -> dict[str, str]:
        """What is wrong, by field."""
        return by_field(self.faults)


@dataclass(frozen=True, kw_only=True)
class TokensPage(_WithForm):
    """The tokens, and the form that makes one."""

    tokens: list[TokenLine]
    projects: list[str]
    scopes: list[tuple[str, str]]
    next: str | None
    made: tuple[str, str] | None = None  # the name and the secret of the one that was made just now


@dataclass(frozen=True, kw_only=True)
class ProjectsPage(_WithForm):
    """The projects, and the form that makes one."""

    projects: list[Project]
    next: str | None


def read_tokens(
    house: House,
    who: Principal,
    after: int = 0,
    *,
    form: Form | None = None,
    faults: Sequence[Fault] = (),
    made: tuple[str, str] | None = None,
) -> TokensPage:
    """Return a page of the tokens, in order of creation."""

    def at_once(tx: Transaction) -> TokensPage:
        now = clock.read(tx)
        users = defaultdict(list)
        for worker in workers.every(tx):
            users[worker.who].append(worker.name)
        found = access.every(tx, after=after, limit=MOST_LISTED)
        return TokensPage(
            tokens=[_token(token, users[token.name], now) for token in found],
            projects=[each.name for each in projects.every(tx, who, after=0, limit=MOST_LISTED)],
            scopes=[(scope.value, told) for scope, told in SCOPES.items()],
            next=str(found[-1].id) if len(found) == MOST_LISTED else None,
            form=form or Form(),
            faults=faults,
            made=made,
        )

    return house.store.read(at_once)


def _token(token: Token, users: list[str], now: datetime) -> TokenLine:
    state = "valid"
    if token.revoked_at is not None:
        state = "revoked"
    elif token.expires_at is not None and token.expires_at <= now:
        state = "expired"
    return TokenLine(
        name=token.name,
        scopes=in_words(token.scopes),
        project=token.project,
        created_at=token.created_at,
        created_by=token.created_by,
        expires_at=token.expires_at,
        state=state,
        workers=users,
    )


def in_words(scopes: frozenset[Scope]) -> list[tuple[str, str]]:
    """Return scopes with what each is for."""
    return [(scope.value, told) for scope, told in SCOPES.items() if scope in scopes]


def read_projects(
    house: House, who: Principal, after: int = 0, *, form: Form | None = None, faults: Sequence[Fault] = ()
) -> ProjectsPage:
    """Return a page of the projects, in order of creation."""
    found = house.store.read(lambda tx: projects.every(tx, who, after=after, limit=MOST_LISTED))
    following = str(found[-1].id) if len(found) == MOST_LISTED else None
    return ProjectsPage(projects=found, next=following, form=form or Form(), faults=faults)
