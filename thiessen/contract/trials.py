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
    InProject,
    InStudy,
    NeverNull,
    NextPage,
    Notes,
    Origin,
    Request,
    TrialNumber,
    TrialState,
)

StateOfTrial = Annotated[TrialState, Field(description="queued and running go on; all others are ends.")]
OriginOfTrial = Annotated[
    Origin,
    Field(
        description="Where its config is from; `memoised`: with the result of an earlier trial of the same."
    ),
]
CauseOfTrial = Annotated[
    str | None, Field(description="Why it failed, was queued again or got its result late; else null.")
]
LossOfTrial = Annotated[
    float | None,
    Field(
        description="What it is ranked by, smaller is better; of a pruned trial its last. Null without one."
    ),
]
ValueOfTrial = Annotated[
    float | None,
    Field(description="The loss as the task tells it, in the direction of the study; null without one."),
]


class NewTrial(Request):
    """A config to try, or with its outcome one that was tried elsewhere."""

    config: Config = Field(
        description="A value for each dimension that is active; of an open study for those that are to "
        "be as told."
    )
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

    trials: Annotated[list[NewTrial], Field(min_length=1, max_length=1000)] = Field(
        description="All of them are added, or none."
    )


class Added(Answer):
    """A trial that was added, or the one that the config had already."""

    trial: int = Field(description="Its number in the study, from 0.")
    state: TrialState = Field(description="In which it is now.")
    is_new: bool = Field(description="False: the config had this trial already.")


class AddedTrials(Answer):
    """What became of each config, in the order sent."""

    trials: list[Added] = Field(description="One for each config.")


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
    nearest_trial: int | None = Field(
        description="The number of the trial nearest to it; null where that is of another study."
    )
    estimate: float | None = Field(
        description="The loss expected there, smaller is better; null where the nearest trial diverged."
    )
    acceptance: float = Field(description="The probability with which it would have been kept.")


class Reasons(Answer):
    """Why a config was proposed: in a sentence, and in numbers."""

    explanation: str = Field(description="All of them in a sentence.")
    strategy: str = Field(description="The name of the strategy.")
    watermark: int = Field(
        description="The number of the last observation that was known when it was chosen."
    )
    draw: str = Field(
        description="What kind of candidate it is: `initial`, `exploration`, `uniform`, `local`, "
        "`grid`, `quasi_random`, `own` or `remaining`."
    )
    refused: int = Field(description="How many candidates were drawn before it and not kept.")
    last_refused: list[Refused] = Field(description="The last few of those that were judged by a loss.")
    forced: bool = Field(description="True: none of the draws was kept, so one of them was chosen.")
    nearest_trial: int | None = Field(
        description="The number of the trial nearest to it; null where none was looked for, or that is "
        "of another study."
    )
    nearest_is_pending: bool = Field(description="Whether that trial was not finished.")
    distance: float | None = Field(
        description="To that trial, each dimension being of length 1; null where none was looked for."
    )
    estimate: float | None = Field(
        description="The loss expected here, smaller is better; null where the nearest trial diverged "
        "or none was looked for."
    )
    neighbourhood: int = Field(description="Of how many trials the estimate is the mean.")
    acceptance: float = Field(description="The probability with which it was kept.")
    parent: int | None = Field(
        description="The number of the trial whose config was changed; null where none was, or one of "
        "another study."
    )
    expected_share: float | None = Field(
        description="The part of the finished trials expected to be better, by the surface through the "
        "best; null without one."
    )


class Attempt(Answer):
    """One execution of a trial."""

    attempt: int = Field(description="Its number in the trial, from 1.")
    worker: str = Field(description="The name of the worker that was given the trial.")
    incarnation: str = Field(
        default="", description="Which start of that worker; empty where that was not kept."
    )
    device: str = Field(description="The name of the slot, such as cuda:0; empty if none was told.")
    gpus: int = Field(default=0, description="How many the slot has.")
    task_version: str | None = Field(
        default=None, description="Of the task as the worker had it; null if it told none."
    )
    environment: dict[str, str] = Field(description="Versions and the like, as the worker told them.")
    started_at: datetime = Field(description="When the worker was given the trial.")
    ended_at: datetime | None = Field(description="Null while it is under way.")
    outcome: str | None = Field(
        description="A state of the trial, or the cause of having none; null while it is under way."
    )
    message: str | None = Field(
        description="What went wrong, how it diverged, or why it was pruned; null if nothing was said."
    )
    traceback: str | None = Field(description="Where in the code it went wrong; null if it did not.")
    log_tail: str | None = Field(
        default=None, description="The last lines of the log that were sent; null without any."
    )
    late: dict[str, JsonValue] | None = Field(
        default=None, description="A result that came when the lease was lost; it may not have counted."
    )
    kept_every: int = Field(default=1, description="One in so many points of a long curve is kept.")
    reports: list[Point] = Field(description="Its learning curve, as far as it is kept.")


class TrialLine(Answer):
    """A trial as a line of a list."""

    trial: TrialNumber
    state: StateOfTrial
    origin: OriginOfTrial = "proposed"
    cause: CauseOfTrial
    loss: LossOfTrial
    value: ValueOfTrial = None
    config: Config
    seed: int = Field(description="Decides its training: it is the same in every attempt.")
    attempts: int = Field(description="How many it has had, one that is under way too.")
    created_at: datetime = Field(description="When it got its number.")
    finished_at: datetime | None = Field(description="When it ended; null while it has not.")


class Trials(Answer):
    """A page of trials."""

    trials: list[TrialLine] = Field(description="In the order that was asked for.")
    next: NextPage


class Trial(Answer):
    """A trial with all that is known of it."""

    project: InProject = "default"
    study: InStudy
    trial: TrialNumber
    state: StateOfTrial
    origin: OriginOfTrial = "proposed"
    turn: int | None = Field(
        default=None,
        description="How many proposals the strategy had made before; null of a trial that was added.",
    )
    cause: CauseOfTrial
    loss: LossOfTrial
    value: ValueOfTrial = None
    config: Config = Field(
        description="A value for each dimension that is active; of an open study, once it has ended, "
        "what it asked for."
    )
    seed: int = Field(description="Decides its training: it is the same in every attempt.")
    notes: str = Field(default="", description="What people wrote on it.")
    attributes: dict[str, JsonValue] = Field(default={}, description="JSON of your own, kept beside it.")
    reasons: Reasons | None = Field(description="Why it was proposed; null of a trial that was added.")
    attempts: list[Attempt] = Field(description="All that it has had, the first to the last.")
    created_at: datetime | None = Field(default=None, description="When it got its number.")
    finished_at: datetime | None = Field(default=None, description="When it ended; null while it has not.")
