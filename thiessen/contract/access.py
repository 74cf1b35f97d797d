"""Tokens, projects and the audit on the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from thiessen.contract.words import Answer, CreatedAt, Name, NextPage, Request

Scope = Literal["read", "submit", "work", "admin"]
_Quota = Annotated[int, Field(ge=0, lt=2**31)] | None
RunningQuota = Annotated[_Quota, Field(description="Trials that may run at once; null: any number.")]
StudyQuota = Annotated[
    _Quota, Field(description="Studies that may exist, deleted ones left out; null: any number.")
]
Days = Annotated[float, Field(gt=0, le=36_500)]


class TokenRequest(Request):
    """A token to make: for whom, for what, for how long."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "node-7", "scopes": ["work"], "days": 90}]}
    )

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)] = Field(
        description="What it may be used for: `admin` implies all, the others imply nothing else."
    )
    project: Annotated[Name | None, Field(description="The only project it is for; null: every one.")] = None
    days: Annotated[Days | None, Field(description="How long it is valid; null: until it is revoked.")] = None


class Token(Answer):
    """A token without its secret."""

    name: str = Field(
        description="What the server calls who acts with it; never given to another token, not even "
        "once it is worthless."
    )
    scopes: list[str] = Field(
        description="What it may be used for: `admin` implies all, the others imply nothing else."
    )
    project: str | None = Field(description="The only project it is for; null: every one.")
    created_at: CreatedAt
    created_by: str = Field(
        description="The name of the token that made it; `anonymous` without one, or `console`."
    )
    expires_at: datetime | None = Field(
        description="From then on it is worthless; null: it is valid until it is revoked."
    )
    revoked_at: datetime | None = Field(description="When it was made worthless; null if it was not.")


class NewToken(Token):
    """A token just made: the only message that ever holds the secret."""

    token: str = Field(description="The secret, to be sent as `Authorization: Bearer`.")


class Tokens(Answer):
    """Tokens in order of creation."""

    tokens: list[Token] = Field(description="Revoked and expired ones too.")
    next: NextPage


class ProjectRequest(Request):
    """A project to make."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "vision", "max_running": 64, "max_studies": 100}]}
    )

    name: Name
    max_running: RunningQuota = None
    max_studies: StudyQuota = None


class ProjectPatch(Request):
    """Quotas to change; null removes one, what is not there stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"max_running": 128}]})

    max_running: RunningQuota = None
    max_studies: StudyQuota = None


class Project(Answer):
    """A project with its quotas."""

    name: str = Field(description="Unique on the server.")
    max_running: int | None = Field(description="Trials that may run at once; null: any number.")
    max_studies: int | None = Field(
        description="Studies that may exist, deleted ones left out; null: any number."
    )
    created_at: CreatedAt


class Projects(Answer):
    """Projects in order of creation."""

    projects: list[Project] = Field(description="Those that the token sees.")
    next: NextPage


class Deed(Answer):
    """A line of the audit: who did what, to which thing."""

    id: int = Field(description="Later lines have higher ones.")
    at: datetime = Field(description="When it was done.")
    who: str = Field(description="The name of the token that did it; `anonymous` without one, or `console`.")
    action: str = Field(description="Such as `token.revoked`; new ones may come.")
    subject: str = Field(description="What it was done to, as `token node-7`; of a webhook its number.")
    data: dict[str, Any] | None = Field(
        description="What was told of it, such as the scopes of a new token; null where there is no "
        "more to tell."
    )


class Audit(Answer):
    """Lines of the audit, the newest first."""

    audit: list[Deed] = Field(
        description="What was done to tokens, projects and webhooks, and what was removed for good."
    )
    next: NextPage
