"""Webhooks: who is told of what happens, and what it is sent."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from thiessen.contract.events import Event
from thiessen.contract.words import Answer, CreatedAt, EventKind, InProject, InStudy, Name, Request

WebhookState = Literal["active", "paused"]


class WebhookSpec(Request):
    """An address to tell of what happens from now on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "https://hooks.example.org/thiessen", "kinds": ["study.completed"]}]
        }
    )

    project: Name = Field(default="default", description="Whose studies it is told of.")
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

    state: WebhookState = Field(description="`active` sends at once, and forgets earlier failures.")


class Webhook(Answer):
    """A webhook as it stands."""

    id: int = Field(description="What other calls name it by.")
    project: str = Field(description="Whose studies it is told of.")
    study: str | None = Field(description="Only of this study; null: of all in the project.")
    url: str = Field(description="Where deliveries are sent.")
    kinds: list[str] = Field(description="Only events of these kinds; of all when empty.")
    state: WebhookState = Field(description="`paused` is sent nothing; what happens meanwhile waits for it.")
    failures: int = Field(description="In a row; 50 pause it.")
    last_error: str | None = Field(
        description="Why the last delivery failed; null if it arrived, or there was none."
    )
    behind: int = Field(description="How many events of its studies it has not been told yet.")
    created_at: CreatedAt
    created_by: str = Field(description="The name of the token that made it; `anonymous` without one.")


class NewWebhook(Webhook):
    """A webhook with the secret that signs what it is sent."""

    secret: str = Field(description="Shown only now. Keep it: it verifies `Thiessen-Signature`.")


class WebhookPage(Answer):
    """Webhooks, oldest first, and where to go on."""

    webhooks: list[Webhook] = Field(description="The oldest first.")
    next: int = Field(description="Ask with `after` set to this for more.")


class Delivery(Answer):
    """What a webhook is sent: events of one study, in order."""

    webhook: int = Field(description="The webhook's number.")
    project: InProject
    study: InStudy
    events: list[Event] = Field(description="In order, only those of the kinds that were asked for.")
