"""A comparison: arms that are searched with the same effort, each search a study of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from app.domain.study import Budget, ComparisonId, Direction, Ending, Remarks, Spec, StudyId, StudyState


class Place(NamedTuple):
    """What a study is for, in its comparison."""

    arm: str
    replicate: int | None = None  # none: it confirms
    around: int | None = None  # the round of confirmation; none: it searches
    confirms: Sequence[Sequence[Any]] | None = None  # of each config: replicate, trial, loss


@dataclass(frozen=True, kw_only=True)
class Part:
    """A study that a comparison is to have."""

    place: Place
    spec: Spec
    budget: Budget
    remarks: Remarks
    submitted: Mapping[str, Any]
    state: StudyState = StudyState.ACTIVE


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A comparison as it is stored."""

    id: ComparisonId
    project_id: int
    project: str
    name: str
    submitted: Mapping[str, Any]
    spec: Mapping[str, Any]  # with what was changed since
    state: StudyState
    around: int  # which round of confirmation comes, or is the last
    priority: int
    tags: Sequence[str]
    notes: str
    created_at: datetime
    completed_at: datetime | None
    archived_at: datetime | None


class Found(NamedTuple):
    """A config that a search came to."""

    replicate: int
    trial: int
    loss: float
    config: dict[str, Any]
    rank: int  # in its search, from 1 on


class Tried(NamedTuple):
    """A trial that has ended, in a search or to confirm."""

    study_id: StudyId
    number: int
    state: str
    loss: float | None
    config: dict[str, Any]
    updates: int
    seconds: float
    version: str | None  # of the task


class Line(NamedTuple):
    """A study of a comparison, as far as it is."""

    comparison_id: ComparisonId
    id: StudyId
    name: str
    task: str
    arm: str
    replicate: int | None
    around: int | None
    state: StudyState
    reason: Ending | None
    direction: Direction
    max_trials: int
    observations: int
    queued: int
    running: int
    succeeded: int
    diverged: int
    pruned: int
    failed: int
    cancelled: int
    updates: int
    trained_milliseconds: int
    best: float | None  # a loss

    @property
    def finished(self) -> int:
        return self.succeeded + self.diverged + self.pruned + self.failed + self.cancelled

    @property
    def is_search(self) -> bool:
        return self.around is None
