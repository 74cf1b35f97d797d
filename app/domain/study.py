"""A study: what to search, how, and how far."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NewType

from app.domain.trial import Ranked, TrialState
from thiessen.space import Space

StudyId = NewType("StudyId", int)


class StudyState(StrEnum):
    """Whether a study still wants trials."""

    ACTIVE = "active"
    COMPLETED = "completed"


class Ending(StrEnum):
    """Why a study proposes no more."""

    MAX_TRIALS = "max_trials"
    EXHAUSTED = "exhausted"  # every config of a finite space has its trial


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A study as its author submitted it; it never changes."""

    name: str
    task: str
    space: Space
    strategy: dict[str, Any]  # canonical JSON, so that what another version has stored can be read too
    seed: int
    max_trials: int
    max_attempts: int


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study and the counters that its row keeps."""

    id: StudyId
    spec: Spec
    state: StudyState
    reason: Ending | None
    trials: int  # numbered so far, which is also the next number
    observations: int  # terminal outcomes so far
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A study as people ask for it."""

    study: Study
    counts: dict[TrialState, int]
    best: Ranked | None
