"""Webhooks: who is told of what happens, and what it is sent."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from thiessen.contract.events import Event
from thiessen.contract.words import Answer, EventKind, Name, Request

WebhookState = Literal["active", "paused"]


class WebhookSpec(Request):
    """An address to tell of what happens from now on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "https://hooks.example.org/thiessen", "kinds": ["study.completed"]}]
        }
    )

    project: Name = "default"
    study: Name | None = Field(
        default=None, description="Of this study; of all in the project when left out."
    )
    url: Annotated[str, Field(max_length=2000, pattern=r"^https?://[!-~]+$")] = Field(
        description="On the open Internet, unless the server allows other addresses."
    )
    kinds: Annotated[list[EventKind], Field(max_length=100)] = Field(
        default=[], description="Events of these kinds; of all when empty."
    )


class WebhookChange(Request):
    """Pause a webhook, or send again; what happened meanwhile is sent then."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"state": "active"}]})

    state: WebhookState


class Webhook(Answer):
    """A webhook as it stands."""

    id: int
    project: str
    study: str | None
    url: str
    kinds: list[str]
    state: WebhookState
    failures: int = Field(description="In a row; 50 pause it.")
    last_error: str | None
    behind: int = Field(description="How many events of its studies it has not been told yet.")
    created_at: datetime
    created_by: str


class NewWebhook(Webhook):
    """A webhook with the secret that signs what it is sent."""

    secret: str = Field(description="Shown only now. Keep it: it verifies `Thiessen-Signature`.")


class WebhookPage(Answer):
    """Webhooks, oldest first, and where to go on."""

    webhooks: list[Webhook]
    next: int = Field(description="Ask with `after` set to this for more.")


class Delivery(Answer):
    """What a webhook is sent: events of one study, in order."""

    webhook: int
    project: str
    study: str
    events: list[Event]
