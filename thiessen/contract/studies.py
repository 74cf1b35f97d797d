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
    Direction,
    Instant,
    Json,
    Label,
    Name,
    NeverNull,
    Notes,
    Request,
    Scalar,
    Seed,
    StudyState,
    Tags,
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
MaxRunning = Annotated[int, Field(ge=1, le=1_000_000, description="How many trials train at once.")]
MaxGpuHours = Annotated[FiniteFloat, Field(gt=0, le=1e9, description="GPU hours of all attempts together.")]
MaxUpdates = Annotated[
    int, Field(ge=1, le=10**15, description="Updates of all trials together, by the last step of each.")
]
MaxSeconds = Annotated[
    FiniteFloat, Field(gt=0, le=1e9, description="Seconds that all trials together have trained.")
]
Deadline = Annotated[Instant, Field(description="From then on running trials are told to stop.")]
Target = Annotated[
    FiniteFloat, Field(description="A value that is good enough: once reached, nothing new begins.")
]
Priority = Annotated[
    int, Field(ge=1, le=100, description="The weight of the study where it shares workers with others.")
]


class MedianRule(Request):
    """Stop a trial whose best loss is worse than a percentile of the others' means up to that step."""

    rule: Literal["median"]
    metric: Metric = Field(description="Of the reports, in the direction of the study.")
    percentile: Annotated[FiniteFloat, Field(ge=0, le=100)] = 50.0
    warm_up: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    min_curves: Annotated[int, Field(ge=1, le=10_000)] = 5


class SuccessiveHalving(Request):
    """Stop a trial that is not among the best 1/eta of those that reached its rung."""

    rule: Literal["successive_halving"]
    metric: Metric = Field(description="Of the reports, in the direction of the study.")
    min_step: Annotated[FiniteFloat, Field(gt=0)] = 1.0
    eta: Annotated[int, Field(ge=2, le=100)] = 3


class ThresholdRule(Request):
    """Stop a trial whose last value is worse than a threshold."""

    rule: Literal["threshold"]
    metric: Metric = Field(description="Of the reports, in the direction of the study.")
    threshold: FiniteFloat
    warm_up: Annotated[FiniteFloat, Field(ge=0)] = 0.0


Stopping = Annotated[MedianRule | SuccessiveHalving | ThresholdRule, Field(discriminator="rule")]
Retried = Literal["error", "out_of_memory", "stalled", "time_limit", "lost"]


class Requires(Request):
    """What a slot must have to train the trials of a study."""

    gpus: Annotated[int, Field(ge=0, le=1024)] = 0
    gpu_memory_gb: Annotated[FiniteFloat, Field(ge=0, le=1e6)] = 0.0
    labels: Annotated[dict[Label, Label], Field(max_length=50)] = {}


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
    max_running: MaxRunning | None = None
    max_gpu_hours: MaxGpuHours | None = None
    max_updates: MaxUpdates | None = None
    max_seconds: MaxSeconds | None = None
    deadline: Deadline | None = None
    target: Target | None = None
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
        default=True, description="Whether a config that fails in every attempt counts as diverged."
    )
    allow_versions: bool = Field(
        default=False, description="Whether workers with several versions of the task may train it."
    )
    requires: Requires = Requires()
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
    max_running: MaxRunning | None = None
    max_gpu_hours: MaxGpuHours | None = None
    max_updates: MaxUpdates | None = None
    max_seconds: MaxSeconds | None = None
    deadline: Deadline | None = None
    target: Target | None = None
    priority: Annotated[Priority | None, NeverNull()] = None
    tags: Annotated[Tags | None, NeverNull()] = None
    notes: Annotated[Notes | None, NeverNull()] = None
    attributes: Annotated[Attributes | None, NeverNull()] = None


class Counts(Answer):
    """How many trials are in each state."""

    queued: int
    running: int
    succeeded: int
    diverged: int
    pruned: int = 0
    failed: int
    cancelled: int = 0

    @property
    def finished(self) -> int:
        return self.succeeded + self.diverged + self.pruned + self.failed + self.cancelled


class BestConfig(Answer):
    """One line of a ranking."""

    rank: int
    project: str = "default"
    study: str
    trial: int
    loss: float
    value: float
    config: Config
    seed: int = Field(description="The seed it trained with: the same config and seed give the same loss.")


class Best(Answer):
    """The best configs, best first."""

    best: list[BestConfig]


class Study(Answer):
    """A study as it stands."""

    project: str = "default"
    name: str
    task: str
    space: dict[str, dict[str, object]] = Field(description="Where it is open, as it is known by now.")
    is_open: bool = Field(default=False, description="Whether what its trials ask for makes its space.")
    is_mirror: bool = Field(
        default=False,
        description="Whether it mirrors a study of Optuna, whose programs alone add its trials.",
    )
    strategy: dict[str, JsonValue] = Field(description="Its name, its version, and every setting.")
    seed: int
    direction: str = "minimize"
    max_trials: int
    max_running: int | None = None
    max_gpu_hours: float | None = None
    max_updates: int | None = None
    max_seconds: float | None = None
    deadline: datetime | None = None
    target: float | None = None
    max_attempts: int
    retry: list[str] = []
    stopping: dict[str, JsonValue] | None = None
    duplicates: str = "forbid"
    failures_repel: bool = True
    allow_versions: bool = False
    task_version: str | None = Field(default=None, description="The version of the task it is held to.")
    requires: dict[str, JsonValue] = {}
    priority: int = 10
    tags: list[str] = []
    notes: str = ""
    attributes: dict[str, JsonValue] = {}
    state: StudyState
    reason: str | None = Field(description="Why it is completed, or proposes no more.")
    waits_for: str | None = Field(default=None, description="Why nothing is leased now, in a sentence.")
    counts: Counts
    imported: int = 0
    gpu_hours: float = 0.0
    updates: int = Field(default=0, description="Of the trials that have ended, by the last step of each.")
    trained_seconds: float = Field(default=0.0, description="That the trials that have ended have trained.")
    comparison: str | None = Field(default=None, description="Which it is a part of.")
    eta: datetime | None = Field(
        default=None, description="When it ends if it goes on as in the last trials; null if unknown."
    )
    best: BestConfig | None
    created_at: datetime
    completed_at: datetime | None = None
    archived_at: datetime | None = None

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
    replayable: bool
    why: str | None = Field(description="Why it cannot be replayed; null when it was.")


class HistoryColumns(Answer):
    """A list for each field of a trial; the n-th entries of all lists are of one trial."""

    number: list[int]
    state: list[TrialState]
    value: list[float | None] = Field(description="Null where the trial has none.")
    config: dict[str, list[Scalar]] = Field(
        description="A list for each dimension; null where it was inactive."
    )


class History(Answer):
    """The finished trials of a study."""

    watermark: int = Field(description="The last observation that this tells of: it grows with each end.")
    trials: int = Field(description="How many the study has.")
    finished: int = Field(description="How many of them have finished; with `most` not all are told.")
    columns: HistoryColumns


class Studies(Answer):
    """A page of studies, newest first."""

    studies: list[Study]
    next: str | None = Field(description="The cursor of the next page; null at the end.")
