"""The wire format, shared by server, worker and client: pydantic models without behaviour.

Requests refuse fields they do not know; answers are read tolerantly, so that an older client understands
a newer server.
"""

from thiessen.contract.events import Event, EventPage
from thiessen.contract.leases import (
    Diverged,
    Failure,
    Heartbeat,
    HeartbeatAnswer,
    Lease,
    LeaseRequest,
    Loss,
    Outcome,
    Point,
)
from thiessen.contract.problems import Problem
from thiessen.contract.studies import Best, BestConfig, Counts, Study, StudySpec
from thiessen.contract.trials import Attempt, Reasons, Refused, Trial
from thiessen.contract.webhooks import (
    Delivery,
    NewWebhook,
    Webhook,
    WebhookChange,
    WebhookPage,
    WebhookSpec,
)

__all__ = [
    "Attempt",
    "Best",
    "BestConfig",
    "Counts",
    "Delivery",
    "Diverged",
    "Event",
    "EventPage",
    "Failure",
    "Heartbeat",
    "HeartbeatAnswer",
    "Lease",
    "LeaseRequest",
    "Loss",
    "NewWebhook",
    "Outcome",
    "Point",
    "Problem",
    "Reasons",
    "Refused",
    "Study",
    "StudySpec",
    "Trial",
    "Webhook",
    "WebhookChange",
    "WebhookPage",
    "WebhookSpec",
]
