"""The wire format, shared by server, worker and client: pydantic models without behaviour.

Requests refuse fields they do not know; answers are read tolerantly, so that an older client understands
a newer server.
"""

from typing import Final

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

CONTRACT: Final = 1
"""The number of this wire format; a server takes it and the one before."""

CONTRACT_HEADER: Final = "Thiessen-Contract"

__all__ = [
    "CONTRACT",
    "CONTRACT_HEADER",
    "Attempt",
    "Best",
    "BestConfig",
    "Counts",
    "Diverged",
    "Failure",
    "Heartbeat",
    "HeartbeatAnswer",
    "Lease",
    "LeaseRequest",
    "Loss",
    "Outcome",
    "Point",
    "Problem",
    "Reasons",
    "Refused",
    "Study",
    "StudySpec",
    "Trial",
]
