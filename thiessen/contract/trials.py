"""Trials: a config, why it was proposed, and what became of it."""

from datetime import datetime

from thiessen.contract.leases import Point
from thiessen.contract.words import Answer, Config, TrialState


class Refused(Answer):
    """A candidate that was not kept."""

    config: Config
    nearest_trial: int | None
    estimate: float | None
    acceptance: float


class Reasons(Answer):
    """Why a config was proposed: in a sentence, and in numbers."""

    explanation: str
    strategy: str
    watermark: int
    draw: str
    refused: int
    last_refused: list[Refused]
    forced: bool
    nearest_trial: int | None
    nearest_is_pending: bool
    distance: float | None
    estimate: float | None
    neighbourhood: int
    acceptance: float
    parent: int | None
    expected_share: float | None


class Attempt(Answer):
    """One execution of a trial."""

    attempt: int
    worker: str
    device: str
    environment: dict[str, str]
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    message: str | None
    traceback: str | None
    reports: list[Point]


class Trial(Answer):
    """A trial with all that is known of it."""

    study: str
    trial: int
    state: TrialState
    cause: str | None
    loss: float | None
    config: Config
    seed: int
    reasons: Reasons
    attempts: list[Attempt]
