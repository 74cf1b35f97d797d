"""A trial is a config; an attempt is one execution of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NewType

from thiessen.space import AskedFor, Config, OpenSpace

TrialId = NewType("TrialId", int)


class TrialState(StrEnum):
    """Where a trial is in its life."""

    QUEUED = "queued"  # free to lease
    RUNNING = "running"  # one worker trains it; free again when its lease expires
    SUCCEEDED = "succeeded"  # has a finite loss
    DIVERGED = "diverged"  # the task says its loss is not finite: a fact about the config
    PRUNED = "pruned"  # ended early: its curve was not worth going on with
    FAILED = "failed"  # gave no result in all its attempts
    CANCELLED = "cancelled"  # a person ended it, for good

    @property
    def is_terminal(self) -> bool:
        return self not in UNFINISHED


UNFINISHED: Final = frozenset({TrialState.QUEUED, TrialState.RUNNING})


class Origin(StrEnum):
    """Where a trial's config comes from."""

    PROPOSED = "proposed"  # by the strategy
    ENQUEUED = "enqueued"  # by a person
    IMPORTED = "imported"  # by a person, with its result
    MEMOISED = "memoised"  # by the strategy, and its result is that of an earlier trial of the same config


class Cause(StrEnum):
    """Why a trial failed, went back to the queue, or got its result in an unusual way."""

    ERROR = "error"
    OUT_OF_MEMORY = "out_of_memory"
    STALLED = "stalled"
    TIME_LIMIT = "time_limit"
    LOST = "lost"
    RELEASED = "released"
    ATTEMPTS_USED_UP = "attempts_used_up"
    RETRIED = "retried"
    LATE = "late"


class Who(StrEnum):
    """Who may make a move."""

    WORKER = "worker"
    SERVER = "server"
    PERSON = "person"


@dataclass(frozen=True)
class Move:
    """One permitted step in a trial's life; no state before is its birth."""

    before: TrialState | None
    after: TrialState
    who: Who
    cause: Cause | None = None


_Q, _R, _F = TrialState.QUEUED, TrialState.RUNNING, TrialState.FAILED
_FAULTS = (Cause.ERROR, Cause.OUT_OF_MEMORY, Cause.STALLED, Cause.TIME_LIMIT)
_RESULTS = (TrialState.SUCCEEDED, TrialState.DIVERGED, TrialState.PRUNED)
MOVES: Final = (
    Move(None, _Q, Who.SERVER),  # proposed
    Move(None, _Q, Who.PERSON),  # enqueued
    *(Move(None, result, Who.PERSON) for result in _RESULTS),  # imported
    Move(None, _F, Who.PERSON),  # mirrored
    Move(None, TrialState.SUCCEEDED, Who.SERVER),  # memoised
    Move(None, TrialState.DIVERGED, Who.SERVER),
    Move(_Q, _R, Who.WORKER),
    Move(_R, _R, Who.WORKER, Cause.LOST),
    Move(_R, _Q, Who.WORKER, Cause.RELEASED),
    *(Move(_R, _Q, Who.WORKER, fault) for fault in _FAULTS),
    Move(_R, _Q, Who.SERVER, Cause.LOST),
    *(Move(_R, result, Who.WORKER) for result in _RESULTS),
    *(Move(_R, result, Who.SERVER, Cause.LATE) for result in _RESULTS),
    *(Move(_R, _F, Who.WORKER, fault) for fault in _FAULTS),
    Move(_R, _F, Who.SERVER, Cause.LOST),
    Move(_R, _F, Who.SERVER, Cause.ATTEMPTS_USED_UP),
    *(Move(_Q, result, Who.WORKER, Cause.LATE) for result in _RESULTS),
    *(Move(_F, result, Who.WORKER, Cause.LATE) for result in _RESULTS),
    *(Move(_Q, result, Who.PERSON) for result in _RESULTS),  # imported for its config
    *(Move(_F, result, Who.PERSON) for result in _RESULTS),
    Move(_F, _Q, Who.PERSON, Cause.RETRIED),
    Move(_Q, TrialState.CANCELLED, Who.PERSON),
    Move(_R, TrialState.CANCELLED, Who.PERSON),
)
"""Every move there is; docs/explanation/trial-life.md draws it and a test compares them."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """The device or devices on which a trial trains."""

    name: str
    gpus: int = 0
    gpu_memory_gb: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Who asked for a lease, and on what it will train."""

    who: str  # the principal: its worker's name is only what it calls itself
    worker: str
    incarnation: str
    request_id: str
    slot: Slot
    environment: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Leased:
    """The right to run one attempt of a trial."""

    lease_id: str
    project: str
    study: str
    number: int
    attempt: int
    task: str
    config: Config
    seed: int
    space: OpenSpace | None  # as it is known by now, where it is open
    expires_at: datetime
    lease_seconds: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """What an attempt ended with: a finite loss, how it diverged, or being pruned; mirrored, a failure."""

    state: TrialState
    loss: float | None = None  # of a pruned one its last
    value: float | None = None  # told instead of a loss, in the direction of the study
    diverged: str | None = None
    asked: AskedFor | None = None  # where the space is open


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How an attempt broke."""

    cause: Cause
    message: str
    traceback: str = ""
    retry: bool = True  # False when the worker knows that trying again cannot help
    asked: AskedFor | None = None  # where the space is open


@dataclass(frozen=True, kw_only=True)
class Observation:
    """A trial's terminal outcome, or that it is tried again after one; numbered in its study."""

    seq: int
    trial: int
    outcome: TrialState
    loss: float | None
    cause: Cause | None
    asked: AskedFor | None = None  # in an open study, where it was said


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One line of a ranking."""

    rank: int
    project: str
    study: str
    number: int
    loss: float
    value: float
    config: Config
    seed: int


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One execution of a trial, kept for ever."""

    number: int
    worker: str
    incarnation: str
    device: str
    gpus: int
    task_version: str | None
    environment: dict[str, str]
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    message: str | None
    traceback: str | None
    log_tail: str | None
    late: dict[str, Any] | None
    kept_every: int
    reports: tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class TrialLine:
    """A trial as a line of a list."""

    number: int
    state: TrialState
    origin: Origin
    cause: Cause | None
    loss: float | None
    value: float | None
    config: Config
    seed: int
    attempts: int
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A config of a study with all that is known of it."""

    project: str
    study: str
    number: int
    state: TrialState
    origin: Origin
    turn: int | None
    cause: Cause | None
    loss: float | None
    value: float | None
    config: Config
    seed: int
    notes: str
    attributes: dict[str, Any]
    reasons: dict[str, Any]
    attempts: tuple[Attempt, ...]
    created_at: datetime
    finished_at: datetime | None
