"""Tokens, projects and the audit on the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from thiessen.contract.words import Answer, Name, Request

Scope = Literal["read", "submit", "work", "admin"]
Quota = Annotated[int, Field(ge=0, lt=2**31)] | None
Days = Annotated[float, Field(gt=0, le=36_500)]


class TokenRequest(Request):
    """A token to make: for whom, for what, for how long."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "node-7", "scopes": ["work"], "days": 90}]}
    )

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    project: Annotated[Name | None, Field(description="The only project it is for; none: every one.")] = None
    days: Annotated[Days | None, Field(description="How long it is valid; none: until it is revoked.")] = None


class Token(Answer):
    """A token without its secret."""

    name: str
    scopes: list[str]
    project: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None


class NewToken(Token):
    """A token just made: the only message that ever holds the secret."""

    token: str


class Tokens(Answer):
    """Tokens in order of creation."""

    tokens: list[Token]
    next: str | None  # the cursor of the next page


class ProjectRequest(Request):
    """A project to make."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "vision", "max_running": 64, "max_studies": 100}]}
    )

    name: Name
    max_running: Annotated[Quota, Field(description="Trials that may run at once; none: any number.")] = None
    max_studies: Annotated[Quota, Field(description="Studies that may exist; none: any number.")] = None


class ProjectPatch(Request):
    """Quotas to change; null removes one, what is not there stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"max_running": 128}]})

    max_running: Quota = None
    max_studies: Quota = None


class Project(Answer):
    """A project with its quotas."""

    name: str
    max_running: int | None
    max_studies: int | None
    created_at: datetime


class Projects(Answer):
    """Projects in order of creation."""

    projects: list[Project]
    next: str | None  # the cursor of the next page


class Deed(Answer):
    """A line of the audit: who did what, to which thing."""

    id: int
    at: datetime
    who: str
    action: str
    subject: str
    data: dict[str, Any] | None


class Audit(Answer):
    """Lines of the audit, the newest first."""

    audit: list[Deed]
    next: str | None  # the cursor of the next page, which is older
