"""The wire format, shared by server, worker and client: pydantic models without behaviour.

Requests refuse fields they do not know; answers are read tolerantly, so that an older client understands
a newer server.
"""

from typing import Final

from thiessen.contract.access import (
    Audit,
    Deed,
    NewToken,
    Project,
    ProjectPatch,
    ProjectRequest,
    Projects,
    Token,
    TokenRequest,
    Tokens,
)
from thiessen.contract.events import Event, EventPage
from thiessen.contract.leases import (
    Diverged,
    Failure,
    Heartbeat,
    HeartbeatAnswer,
    Lease,
    LeaseRequest,
    Leases,
    Loss,
    OfferedTask,
    Outcome,
    Point,
    Pruned,
    Slot,
    TaskAnswer,
    Tasks,
    Value,
    WorkerAnswer,
    WorkerChanges,
    Workers,
    WorkerSpec,
)
from thiessen.contract.problems import Problem
from thiessen.contract.studies import (
    Best,
    BestConfig,
    Counts,
    Requires,
    Studies,
    Study,
    StudyChanges,
    StudySpec,
)
from thiessen.contract.trials import (
    Added,
    AddedTrials,
    Attempt,
    NewTrial,
    NewTrials,
    Reasons,
    Refused,
    Trial,
    TrialChanges,
    TrialLine,
    Trials,
)
from thiessen.contract.webhooks import (
    Delivery,
    NewWebhook,
    Webhook,
    WebhookChange,
    WebhookPage,
    WebhookSpec,
)

CONTRACT: Final = 1
"""The number of this wire format; a server takes it and the one before."""

CONTRACT_HEADER: Final = "Thiessen-Contract"

__all__ = [
    "CONTRACT",
    "CONTRACT_HEADER",
    "Added",
    "AddedTrials",
    "Attempt",
    "Audit",
    "Best",
    "BestConfig",
    "Counts",
    "Deed",
    "Delivery",
    "Diverged",
    "Event",
    "EventPage",
    "Failure",
    "Heartbeat",
    "HeartbeatAnswer",
    "Lease",
    "LeaseRequest",
    "Leases",
    "Loss",
    "NewToken",
    "NewTrial",
    "NewTrials",
    "NewWebhook",
    "OfferedTask",
    "Outcome",
    "Point",
    "Problem",
    "Project",
    "ProjectPatch",
    "ProjectRequest",
    "Projects",
    "Pruned",
    "Reasons",
    "Refused",
    "Requires",
    "Slot",
    "Studies",
    "Study",
    "StudyChanges",
    "StudySpec",
    "TaskAnswer",
    "Tasks",
    "Token",
    "TokenRequest",
    "Tokens",
    "Trial",
    "TrialChanges",
    "TrialLine",
    "Trials",
    "Value",
    "Webhook",
    "WebhookChange",
    "WebhookPage",
    "WebhookSpec",
    "WorkerAnswer",
    "WorkerChanges",
    "WorkerSpec",
    "Workers",
]
