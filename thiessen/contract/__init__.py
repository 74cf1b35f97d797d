"""The wire format, shared by server, worker and client: pydantic models without behaviour.

Requests refuse fields they do not know; answers are read tolerantly, so that an older client understands
a newer server.
"""

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

__all__ = [
    "Attempt",
    "Audit",
    "Best",
    "BestConfig",
    "Counts",
    "Deed",
    "Diverged",
    "Failure",
    "Heartbeat",
    "HeartbeatAnswer",
    "Lease",
    "LeaseRequest",
    "Loss",
    "NewToken",
    "Outcome",
    "Point",
    "Problem",
    "Project",
    "ProjectPatch",
    "ProjectRequest",
    "Projects",
    "Reasons",
    "Refused",
    "Study",
    "StudySpec",
    "Token",
    "TokenRequest",
    "Tokens",
    "Trial",
]
