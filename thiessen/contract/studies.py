"""Studies: what is submitted, and what is read back."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, FiniteFloat, JsonValue, Tag
from pydantic.config import JsonDict

from thiessen.contract.space import Declaration
from thiessen.contract.words import (
    Answer,
    Attributes,
    Changes,
    Config,
    CreatedAt,
    Direction,
    InProject,
    Instant,
    InStudy,
    Json,
    Label,
    Name,
    NeverNull,
    NextPage,
    Notes,
    Request,
    Scalar,
    Seed,
    StudyState,
    Tags,
    TrialNumber,
    TrialState,
)

Strategy = Annotated[
    Annotated[str, Tag("name")] | Annotated[dict[str, Json], Tag("settings")],
    Discriminator(lambda sent: "name" if isinstance(sent, str) else "settings"),
    Field(
        description="How configs are proposed: the name of a strategy, or an object with name and settings. "
        "A setting that is left out is that of the `preset`, if one is named, or else the usual one.",
        examples=["random", {"name": "grid", "levels": {"lr": 5}, "order": "shuffled"}],
    ),
]
EXAMPLE: JsonDict = {
    "name": "digits-sgd",
    "task": "classifier",
    "space": {
        "lr": {"type": "float", "low": 0.001, "high": 1.0, "log": True},
        "hidden": {"type": "int", "low": 8, "high": 128, "log": True},
    },
    "strategy": "biased_random",
    "seed": 1,
    "max_trials": 40,
}
Metric = Annotated[str, Field(min_length=1, max_length=100)]
MaxTrials = Annotated[
    int, Field(ge=1, le=1_000_000, description="How many trials in all; imported ones are not counted.")
]
MaxRunning = Annotated[
    Annotated[int, Field(ge=1, le=1_000_000)] | None,
    Field(description="How many trials train at once; null: any number."),
]
MaxGpuHours = Annotated[
    Annotated[FiniteFloat, Field(gt=0, le=1e9)] | None,
    Field(description="GPU hours of all attempts together; null: any number."),
]
MaxUpdates = Annotated[
    Annotated[int, Field(ge=1, le=10**15)] | None,
    Field(description="Updates of all trials together, by the last step of each; null: any number."),
]
MaxSeconds = Annotated[
    Annotated[FiniteFloat, Field(gt=0, le=1e9)] | None,
    Field(description="Seconds that all trials together have trained; null: any number."),
]
Deadline = Annotated[
    Instant | None,
    Field(description="From then on nothing begins, and running trials are told to stop; null: never."),
]
Target = Annotated[
    FiniteFloat | None,
    Field(description="A value that is good enough: once reached, nothing new begins; null: none is."),
]
Priority = Annotated[
    int, Field(ge=1, le=100, description="The weight of the study where it shares workers with others.")
]


class MedianRule(Request):
    """Stop a trial whose best loss is worse than a percentile of the others' means up to that step."""

    rule: Literal["median"] = Field(description="Which rule it is.")
    metric: Metric = Field(description="Of the reports, in the direction of the study.")
    percentile: Annotated[FiniteFloat, Field(ge=0, le=100)] = Field(
        default=50.0, description="A smaller one stops more trials; 50 is the median."
    )
    warm_up: Annotated[FiniteFloat, Field(ge=0)] = Field(
        default=0.0, description="Nothing is stopped before this step."
    )
    min_curves: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=5,
        description="Nothing is stopped beside fewer ended trials that have reported up to its step.",
    )


class SuccessiveHalving(Request):
    """Stop a trial that is not among the best 1/eta of those that reached its rung."""

    rule: Literal["successive_halving"] = Field(description="Which rule it is.")
    metric: Metric = Field(description="Of the reports, in the direction of the study.")
    min_step: Annotated[FiniteFloat, Field(gt=0)] = Field(
        default=1.0, description="The first rung; each other is `eta` times the one before."
    )
    eta: Annotated[int, Field(ge=2, le=100)] = Field(
        default=3, description="Of those that reached a rung the best 1/eta go on."
    )


class ThresholdRule(Request):
    """Stop a trial whose last value is worse than a threshold."""

    rule: Literal["threshold"] = Field(description="Which rule it is.")
    metric: Metric = Field(description="Of the reports, in the direction of the study.")
    threshold: FiniteFloat = Field(
        description="In the direction of the study; what is not finite is worse than any."
    )
    warm_up: Annotated[FiniteFloat, Field(ge=0)] = Field(
        default=0.0, description="Nothing is stopped before this step."
    )


Stopping = Annotated[MedianRule | SuccessiveHalving | ThresholdRule, Field(discriminator="rule")]
Retried = Literal["error", "out_of_memory", "stalled", "time_limit", "lost"]


class Requires(Request):
    """What a slot must have to train the trials of a study."""

    gpus: Annotated[int, Field(ge=0, le=1024)] = Field(default=0, description="At least so many.")
    gpu_memory_gb: Annotated[FiniteFloat, Field(ge=0, le=1e6)] = Field(
        default=0.0, description="At least so much of each of its GPUs, in 10**9 bytes."
    )
    labels: Annotated[dict[Label, Label], Field(max_length=50)] = Field(
        default={}, description="What the worker must say of itself, by name."
    )


OPEN_EXAMPLE: JsonDict = {"name": "mine", "task": "program", "space": "open", "max_trials": 40}


class StudySpec(Request):
    """A study as its author submits it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE, OPEN_EXAMPLE]})

    name: Name
    task: Name = Field(description="What to train: a task that some worker offers.")
    space: Declaration = Field(
        description="Its dimensions by name; or open: what its trials ask for makes it."
    )
    strategy: Strategy = "biased_random"
    seed: Seed = Field(default=0, description="Decides every proposal and every trial's own seed.")
    direction: Direction = Field(default="minimize", description="Whether small or large values are good.")
    max_trials: MaxTrials = 100
    max_running: MaxRunning = None
    max_gpu_hours: MaxGpuHours = None
    max_updates: MaxUpdates = None
    max_seconds: MaxSeconds = None
    deadline: Deadline = None
    target: Target = None
    max_attempts: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="How often a trial is tried when workers vanish or its training fails."
    )
    retry: Annotated[list[Retried], Field(max_length=5)] = Field(
        default=["error", "out_of_memory", "stalled", "lost"],
        description="After which faults a trial is tried again.",
    )
    stopping: Stopping | None = Field(default=None, description="When to end a trial early.")
    duplicates: Literal["forbid", "allow", "memoise"] = Field(
        default="forbid",
        description="Whether a config may have several trials; memoise gives a repeat the known result.",
    )
    failures_repel: bool = Field(
        default=True,
        description="Whether a config that fails in every attempt, by an error or for memory, counts "
        "as diverged.",
    )
    allow_versions: bool = Field(
        default=False, description="Whether workers with several versions of the task may train it."
    )
    requires: Requires = Field(default=Requires(), description="What a slot must have to train its trials.")
    priority: Priority = 10
    tags: Tags = []
    notes: Notes = ""
    attributes: Attributes = {}


class StudyChanges(Changes):
    """What to change of a study; what is left out stays, a budget of null is lifted."""

    model_config = ConfigDict(
        json_schema_extra={
            "minProperties": 1,
            "examples": [{"state": "paused"}, {"max_trials": 200, "tags": ["baseline"]}],
        }
    )

    state: Annotated[Literal["active", "paused", "stopped"] | None, NeverNull()] = Field(
        default=None, description="paused lets running trials finish, stopped has them given back."
    )
    max_trials: Annotated[MaxTrials | None, NeverNull()] = None
    max_running: MaxRunning = None
    max_gpu_hours: MaxGpuHours = None
    max_updates: MaxUpdates = None
    max_seconds: MaxSeconds = None
    deadline: Deadline = None
    target: Target = None
    priority: Annotated[Priority | None, NeverNull()] = None
    tags: Annotated[Tags | None, NeverNull()] = None
    notes: Annotated[Notes | None, NeverNull()] = None
    attributes: Annotated[Attributes | None, NeverNull()] = None


class Counts(Answer):
    """How many trials are in each state."""

    queued: int = Field(description="Waiting for a worker.")
    running: int = Field(description="Given to a worker.")
    succeeded: int = Field(description="Ended with a finite value.")
    diverged: int = Field(description="Ended without one: a fact about the config.")
    pruned: int = Field(default=0, description="Ended early: their curves were not worth going on with.")
    failed: int = Field(description="Gave no result in all of their attempts.")
    cancelled: int = Field(default=0, description="Ended by a person.")

    @property
    def finished(self) -> int:
        return self.succeeded + self.diverged + self.pruned + self.failed + self.cancelled


class BestConfig(Answer):
    """One line of a ranking."""

    rank: int = Field(description="In its study, from 1; of equal losses the earlier trial is first.")
    project: InProject = "default"
    study: InStudy
    trial: TrialNumber
    loss: float = Field(
        description="What it is ranked by: smaller is better, whatever the direction of the study."
    )
    value: float = Field(description="The loss as the task tells it, in the direction of the study.")
    config: Config
    seed: int = Field(description="The seed it trained with: the same config and seed give the same loss.")


class Best(Answer):
    """The best configs: of a study, or one of each."""

    best: list[BestConfig] = Field(
        description="Of one study the best first; of all studies the best of each, those of the newest first."
    )


class Study(Answer):
    """A study as it stands."""

    project: InProject = "default"
    name: str = Field(description="Unique in its project.")
    task: str = Field(description="What its trials train.")
    space: dict[str, dict[str, object]] = Field(description="Where it is open, as it is known by now.")
    is_open: bool = Field(default=False, description="Whether what its trials ask for makes its space.")
    is_mirror: bool = Field(
        default=False,
        description="Whether it mirrors a study of Optuna, whose programs alone add its trials.",
    )
    strategy: dict[str, JsonValue] = Field(description="Its name, its version, and every setting.")
    seed: int = Field(description="Decides every proposal and every trial's own seed.")
    direction: str = Field(
        default="minimize", description="Whether small or large values are good: `minimize` or `maximize`."
    )
    max_trials: int = Field(description="How many trials in all; imported ones are not counted.")
    max_running: int | None = Field(
        default=None, description="How many trials train at once; null: any number."
    )
    max_gpu_hours: float | None = Field(
        default=None, description="GPU hours of all attempts together; null: any number."
    )
    max_updates: int | None = Field(
        default=None,
        description="Updates of all trials together, by the last step of each; null: any number.",
    )
    max_seconds: float | None = Field(
        default=None, description="Seconds that all trials together have trained; null: any number."
    )
    deadline: datetime | None = Field(
        default=None,
        description="From then on nothing begins, and running trials are told to stop; null: never.",
    )
    target: float | None = Field(
        default=None,
        description="A value that is good enough: once reached, nothing new begins; null: none is.",
    )
    max_attempts: int = Field(
        description="How often a trial is tried when workers vanish or its training fails."
    )
    retry: list[str] = Field(default=[], description="After which faults a trial is tried again.")
    stopping: dict[str, JsonValue] | None = Field(
        default=None, description="When to end a trial early: a rule with all its settings; null: never."
    )
    duplicates: str = Field(
        default="forbid",
        description="Whether a config may have several trials: `forbid`, `allow`, or `memoise`, with "
        "the known result.",
    )
    failures_repel: bool = Field(
        default=True,
        description="Whether a config that fails in every attempt, by an error or for memory, counts "
        "as diverged.",
    )
    allow_versions: bool = Field(
        default=False, description="Whether workers with several versions of the task may train it."
    )
    task_version: str | None = Field(
        default=None,
        description="The version of the task it is held to; null while it is held to none.",
    )
    requires: dict[str, JsonValue] = Field(
        default={}, description="What a slot must have to train its trials."
    )
    priority: int = Field(
        default=10, description="The weight of the study where it shares workers with others, 1 to 100."
    )
    tags: list[str] = Field(default=[], description="Names to find it again by.")
    notes: str = Field(default="", description="A text of its author's, kept beside it.")
    attributes: dict[str, JsonValue] = Field(default={}, description="JSON of its author's, kept beside it.")
    state: StudyState = Field(
        description="paused leases nothing, stopped has running trials given back too; completed has "
        "come to its end."
    )
    reason: str | None = Field(
        description="Why it is completed, or proposes no more: a budget, or `exhausted`; null while it does."
    )
    waits_for: str | None = Field(default=None, description="Why nothing is leased now, in a sentence.")
    counts: Counts = Field(description="How many of its trials are in each state.")
    imported: int = Field(default=0, description="How many of its trials were added with their results.")
    gpu_hours: float = Field(
        default=0.0, description="Of all attempts, those under way too: how long, times the GPUs of the slot."
    )
    updates: int = Field(default=0, description="Of the trials that have ended, by the last step of each.")
    trained_seconds: float = Field(default=0.0, description="That the trials that have ended have trained.")
    comparison: str | None = Field(default=None, description="Which it is a part of.")
    eta: datetime | None = Field(
        default=None, description="When it ends if it goes on as in the last trials; null if unknown."
    )
    best: BestConfig | None = Field(description="The best trial that succeeded; null without one.")
    created_at: CreatedAt
    completed_at: datetime | None = Field(
        default=None, description="When it came to its end; null while it goes on."
    )
    archived_at: datetime | None = Field(
        default=None, description="When it was deleted, which keeps its history; null if it was not."
    )

    @property
    def expected(self) -> int:
        """How many trials it will have had; of a mirror nobody knows, so as many as it has."""
        return self.imported if self.is_mirror else self.max_trials + self.imported


class Replay(Answer):
    """What came of computing the proposals of a study again."""

    trials: int = Field(description="How many were looked at, from the first on.")
    proposed: int = Field(description="How many of them were proposed.")
    matching: int = Field(description="How many proposals came out as they are stored.")
    mismatches: list[str] = Field(description="The first that did not, each in a sentence.")
    replayable: bool = Field(description="Whether its proposals can be computed again.")
    why: str | None = Field(description="Why it cannot be replayed; null when it was.")


class HistoryColumns(Answer):
    """A list for each field of a trial; the n-th entries of all lists are of one trial."""

    number: list[int] = Field(description="The trial's number in the study, from 0.")
    state: list[TrialState] = Field(description="How the trial has ended.")
    value: list[float | None] = Field(description="Null where the trial has none.")
    config: dict[str, list[Scalar]] = Field(
        description="A list for each dimension; null where it was inactive."
    )


class History(Answer):
    """The finished trials of a study."""

    watermark: int = Field(description="The last observation that this tells of: it grows with each end.")
    trials: int = Field(description="How many the study has.")
    finished: int = Field(description="How many of them have finished; with `most` not all are told.")
    columns: HistoryColumns = Field(description="In the order in which the trials finished.")


class Studies(Answer):
    """A page of studies, newest first."""

    studies: list[Study] = Field(description="As they stand.")
    next: NextPage
