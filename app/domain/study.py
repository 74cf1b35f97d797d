"""A study: what to search, how, and how far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, NewType

from app.domain.optuna import OptunaStudyId
from app.domain.trial import Cause, Ranked, TrialState
from thiessen.space import Space

StudyId = NewType("StudyId", int)
ComparisonId = NewType("ComparisonId", int)

DEFAULT_PROJECT: Final = "default"
RETRIED: Final = (Cause.ERROR, Cause.OUT_OF_MEMORY, Cause.STALLED, Cause.LOST)
MILLISECONDS_PER_HOUR: Final = 3_600_000


class StudyState(StrEnum):
    """Whether a study still wants trials."""

    ACTIVE = "active"
    PAUSED = "paused"  # running trials finish, nothing is leased
    STOPPED = "stopped"  # running trials are told to stop and go back to the queue, nothing is leased
    COMPLETED = "completed"


class Ending(StrEnum):
    """Why a study proposes no more."""

    MAX_TRIALS = "max_trials"
    EXHAUSTED = "exhausted"  # every config of a finite space has its trial
    TARGET = "target"  # a trial is good enough
    DEADLINE = "deadline"
    MAX_GPU_HOURS = "max_gpu_hours"
    MAX_UPDATES = "max_updates"  # of all trials that have ended
    MAX_SECONDS = "max_seconds"


EARLY: Final = frozenset(
    {Ending.TARGET, Ending.DEADLINE, Ending.MAX_GPU_HOURS, Ending.MAX_UPDATES, Ending.MAX_SECONDS}
)
"""Endings that leave queued trials where they are."""
STOPPING: Final = frozenset({Ending.DEADLINE, Ending.MAX_GPU_HOURS})
"""Endings that stop running trials too."""


class Direction(StrEnum):
    """Which values are good."""

    MINIMIZE = "minimize"
    MAXIMIZE = "maximize"

    def loss(self, value: float) -> float:
        """Return what is minimised, of the user's number; and the other way round."""
        return value if self is Direction.MINIMIZE else -value


class Duplicates(StrEnum):
    """Whether a config may have several trials."""

    FORBID = "forbid"
    ALLOW = "allow"
    MEMOISE = "memoise"  # a repeat is given the result that is known


@dataclass(frozen=True, kw_only=True)
class Requires:
    """What a slot must have."""

    gpus: int = 0
    gpu_memory_gb: float = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How far a study goes; the one part of it that may change."""

    max_trials: int
    max_running: int | None = None
    max_gpu_hours: float | None = None
    max_updates: int | None = None
    max_seconds: float | None = None
    deadline: datetime | None = None
    target: float | None = None  # a loss


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A study as its author submitted it; it never changes."""

    name: str
    task: str
    space: Space
    strategy: dict[str, Any]  # canonical JSON, so that what another version has stored can be read too
    seed: int
    max_attempts: int
    direction: Direction = Direction.MINIMIZE
    retry: tuple[Cause, ...] = RETRIED
    stopping: Mapping[str, Any] | None = None
    duplicates: Duplicates = Duplicates.FORBID
    failures_repel: bool = True
    allow_versions: bool = False
    requires: Requires = field(default_factory=Requires)


@dataclass(frozen=True, kw_only=True)
class Remarks:
    """What people write on a study."""

    priority: int = 10
    tags: tuple[str, ...] = ()
    notes: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Standing(NamedTuple):
    """The part of a study's row that its trials change; made several times for each trial."""

    id: StudyId
    project_id: int
    state: StudyState
    reason: Ending | None
    max_trials: int
    max_running: int | None
    max_gpu_hours: float | None
    max_updates: int | None
    max_seconds: float | None
    deadline: datetime | None
    target: float | None
    trials: int  # numbered so far, which is also the next number
    imported: int
    turns: int  # proposals so far, which is also the next turn
    observations: int  # the number of the last one
    events: int
    queued: int
    running: int
    succeeded: int
    diverged: int
    pruned: int
    failed: int
    cancelled: int
    gpus_running: int
    gpu_milliseconds: int
    updates: int  # of the trials that have ended
    trained_milliseconds: int  # as well
    task_version: str | None
    comparison_id: ComparisonId | None  # which it is a part of

    @property
    def counts(self) -> dict[TrialState, int]:
        return {state: getattr(self, state.value) for state in TrialState}

    @property
    def budget_is_used_up(self) -> bool:
        return self.trials - self.imported >= self.max_trials

    @property
    def trained(self) -> timedelta:
        """How long the trials that have ended have trained."""
        return timedelta(milliseconds=self.trained_milliseconds)

    @property
    def effort_is_used_up(self) -> Ending | None:
        """Which budget of what trials have spent is used up."""
        if self.max_updates is not None and self.updates >= self.max_updates:
            return Ending.MAX_UPDATES
        if self.max_seconds is not None and self.trained >= timedelta(seconds=self.max_seconds):
            return Ending.MAX_SECONDS
        return None

    def gpu_time(self, now: datetime) -> timedelta:
        """Return what all attempts have used until now, by a clock that may have been set back since."""
        started = round(now.timestamp() * 1000) * self.gpus_running
        return timedelta(milliseconds=max(started + self.gpu_milliseconds, 0))


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study as it is stored."""

    id: StudyId
    project: str
    spec: Spec
    budget: Budget
    remarks: Remarks
    standing: Standing
    task_version: str | None
    submitted: Mapping[str, Any]
    created_at: datetime
    completed_at: datetime | None
    archived_at: datetime | None
    mirrors: OptunaStudyId | None  # whose programs alone add its trials
    comparison: str | None  # which it is a part of


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A study as people ask for it."""

    study: Study
    space: Space  # as it is known by now
    gpu_hours: float
    best: Ranked | None
    eta: datetime | None
    waits_for: str | None

    @property
    def counts(self) -> dict[TrialState, int]:
        return self.study.standing.counts
