"""A trial is a config; an attempt is one execution of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from thiessen.space import Config


class TrialState(StrEnum):
    """Where a trial is in its life."""

    QUEUED = "queued"  # free to lease
    RUNNING = "running"  # one worker trains it; free again when its lease expires
    SUCCEEDED = "succeeded"  # has a finite loss
    DIVERGED = "diverged"  # the task says its loss is not finite: a fact about the config
    FAILED = "failed"  # gave no result in all its attempts


class Cause(StrEnum):
    """Why a trial failed or went back to the queue."""

    ERROR = "error"
    OUT_OF_MEMORY = "out_of_memory"
    LOST = "lost"
    RELEASED = "released"
    ATTEMPTS_USED_UP = "attempts_used_up"


class Who(StrEnum):
    """Who may make a move."""

    WORKER = "worker"
    SERVER = "server"


@dataclass(frozen=True)
class Move:
    """One permitted step in a trial's life."""

    before: TrialState
    after: TrialState
    who: Who
    cause: Cause | None = None


MOVES = (
    Move(TrialState.QUEUED, TrialState.RUNNING, Who.WORKER),
    Move(TrialState.RUNNING, TrialState.RUNNING, Who.WORKER, Cause.LOST),
    Move(TrialState.RUNNING, TrialState.QUEUED, Who.WORKER, Cause.RELEASED),
    Move(TrialState.RUNNING, TrialState.QUEUED, Who.WORKER, Cause.ERROR),
    Move(TrialState.RUNNING, TrialState.QUEUED, Who.WORKER, Cause.OUT_OF_MEMORY),
    Move(TrialState.RUNNING, TrialState.SUCCEEDED, Who.WORKER),
    Move(TrialState.RUNNING, TrialState.DIVERGED, Who.WORKER),
    Move(TrialState.RUNNING, TrialState.FAILED, Who.WORKER, Cause.ERROR),
    Move(TrialState.RUNNING, TrialState.FAILED, Who.WORKER, Cause.OUT_OF_MEMORY),
    Move(TrialState.RUNNING, TrialState.FAILED, Who.SERVER, Cause.ATTEMPTS_USED_UP),
)
"""Every move there is; docs/explanation/trial-life.md draws it and a test compares them."""


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Who asked for a lease, and on what it will train."""

    worker: str
    incarnation: str
    request_id: str
    device: str
    environment: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Leased:
    """The right to run one attempt of a trial."""

    lease_id: str
    study: str
    number: int
    attempt: int
    task: str
    config: Config
    seed: int
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Result:
    """What an attempt ended with: a finite loss, or the way in which it diverged."""

    loss: float | None = None
    diverged: str | None = None

    @property
    def state(self) -> TrialState:
        return TrialState.DIVERGED if self.loss is None else TrialState.SUCCEEDED


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How an attempt broke."""

    cause: Cause
    message: str
    traceback: str = ""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """A trial's terminal outcome, numbered in its study."""

    trial: int
    config: Config
    outcome: TrialState
    loss: float | None
    cause: Cause | None


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One line of a ranking."""

    rank: int
    study: str
    number: int
    loss: float
    config: Config
    seed: int


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One execution of a trial, kept for ever."""

    number: int
    worker: str
    device: str
    environment: dict[str, str]
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    message: str | None
    traceback: str | None
    reports: tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A config of a study with all that is known of it."""

    study: str
    number: int
    state: TrialState
    cause: Cause | None
    loss: float | None
    config: Config
    seed: int
    reasons: dict[str, Any]
    attempts: tuple[Attempt, ...]
