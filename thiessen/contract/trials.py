"""Trials: a config, why it was proposed, and what became of it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from thiessen.contract.leases import Outcome, Point
from thiessen.contract.space import Dimensions
from thiessen.contract.words import (
    Answer,
    Attributes,
    Changes,
    Config,
    NeverNull,
    Notes,
    Origin,
    Request,
    TrialState,
)


class NewTrial(Request):
    """A config to try, or with its outcome one that was tried elsewhere."""

    config: Config
    dimensions: Dimensions = Field(
        default={},
        description="Of a finished trial of an open study: those that the study does not know as they were.",
    )
    outcome: Outcome | None = Field(default=None, description="Given, the trial is imported as finished.")
    notes: Notes = ""
    attributes: Attributes = {}


class NewTrials(Request):
    """Configs to try and finished trials to learn from."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "trials": [
                        {"config": {"lr": 0.1, "hidden": 32}},
                        {"config": {"lr": 0.5, "hidden": 64}, "outcome": {"value": 0.31}},
                    ]
                }
            ]
        }
    )

    trials: Annotated[list[NewTrial], Field(min_length=1, max_length=1000)]


class Added(Answer):
    """A trial that was added, or the one that the config had already."""

    trial: int
    state: TrialState
    is_new: bool


class AddedTrials(Answer):
    """What became of each config, in the order sent."""

    trials: list[Added]


class TrialChanges(Changes):
    """What a person changes of a trial."""

    model_config = ConfigDict(
        json_schema_extra={
            "minProperties": 1,
            "examples": [{"state": "cancelled"}, {"notes": "The power failed here."}],
        }
    )

    state: Annotated[Literal["cancelled", "queued"] | None, NeverNull()] = Field(
        default=None, description="cancelled ends an unfinished trial; queued tries a failed one again."
    )
    notes: Annotated[Notes | None, NeverNull()] = None
    attributes: Annotated[Attributes | None, NeverNull()] = None


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
    incarnation: str = ""
    device: str
    gpus: int = 0
    task_version: str | None = None
    environment: dict[str, str]
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    message: str | None
    traceback: str | None
    log_tail: str | None = None
    late: dict[str, JsonValue] | None = Field(
        default=None, description="A result that came when the lease was lost; it may not have counted."
    )
    kept_every: int = Field(default=1, description="One in so many points of a long curve is kept.")
    reports: list[Point]


class TrialLine(Answer):
    """A trial as a line of a list."""

    trial: int
    state: TrialState
    origin: Origin = "proposed"
    cause: str | None
    loss: float | None
    value: float | None = None
    config: Config
    seed: int
    attempts: int
    created_at: datetime
    finished_at: datetime | None


class Trials(Answer):
    """A page of trials."""

    trials: list[TrialLine]
    next: str | None = Field(description="The cursor of the next page; null at the end.")


class Trial(Answer):
    """A trial with all that is known of it."""

    project: str = "default"
    study: str
    trial: int
    state: TrialState
    origin: Origin = "proposed"
    turn: int | None = None
    cause: str | None
    loss: float | None
    value: float | None = None
    config: Config
    seed: int
    notes: str = ""
    attributes: dict[str, JsonValue] = {}
    reasons: Reasons | None = Field(description="Why it was proposed; null of a trial that was added.")
    attempts: list[Attempt]
    created_at: datetime | None = None
    finished_at: datetime | None = None
