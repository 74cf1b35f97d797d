"""Comparisons: arms that are searched with the same effort, and what can be said of them."""

from datetime import datetime
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, FiniteFloat, JsonValue, model_validator
from pydantic.config import JsonDict

from thiessen.contract.space import DimensionName, Dimensions
from thiessen.contract.studies import MaxSeconds, MaxTrials, MaxUpdates, Priority, Requires, Strategy
from thiessen.contract.words import (
    NAME,
    Answer,
    Changes,
    Config,
    CreatedAt,
    Direction,
    InProject,
    Name,
    NeverNull,
    NextPage,
    Notes,
    Request,
    Scalar,
    Seed,
    StudyState,
    Tags,
)

MOST_ARMS: Final = 24
MOST_SEARCHES: Final = 1000  # arms times replicates
MOST_RUNS: Final = 10_000  # of the configs of an arm that are confirmed

ComparisonName = Annotated[
    str, Field(min_length=1, max_length=45, pattern=NAME, description="Its studies' names begin with it.")
]
Label = Annotated[
    str,
    Field(min_length=1, max_length=40, pattern=NAME, description="What it is called, in studies' names too."),
]
Settings = Annotated[
    dict[DimensionName, Scalar],
    Field(max_length=100, description="What every trial trains with: each a dimension of a single choice."),
]
Replicates = Annotated[
    int,
    Field(ge=1, le=MOST_SEARCHES, description="Independent searches of each arm, with seeds of their own."),
]
Unit = Literal["trials", "updates", "seconds"]
EXAMPLE: Final[JsonDict] = {
    "name": "kfac-or-sgd",
    "task": "autoencoder",
    "settings": {"updates": 200},
    "space": {"batch_size": {"type": "categorical", "choices": [32, 128]}},
    "arms": [
        {
            "label": "sgd",
            "settings": {"optimizer": "sgd"},
            "space": {"lr": {"type": "float", "low": 0.001, "high": 10.0, "log": True}},
        },
        {
            "label": "kfac",
            "settings": {"optimizer": "kfac"},
            "space": {"damping": {"type": "float", "low": 0.0001, "high": 10.0, "log": True}},
        },
    ],
    "budget": {"trials": 20},
    "replicates": 10,
    "strategy": "random",
    "seed": 1,
}


class Arm(Request):
    """One of those that are compared. What it has of its own stands in place of the comparison's."""

    label: Label
    task: Annotated[Name | None, NeverNull()] = None
    settings: Settings = {}
    space: Dimensions = Field(default={}, description="In place of the dimensions of all arms, name by name.")
    strategy: Annotated[Strategy | None, NeverNull()] = None


class Effort(Request):
    """What each search may spend, in one unit. Trials that diverge or fail have spent theirs."""

    trials: Annotated[MaxTrials | None, NeverNull()] = Field(default=None, description="How many trials.")
    updates: Annotated[MaxUpdates, NeverNull()] = Field(
        default=None, description="Updates of all its trials together, by the last step of each."
    )
    seconds: Annotated[MaxSeconds, NeverNull()] = Field(
        default=None, description="Seconds that all its trials together have trained."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len([each for each in (self.trials, self.updates, self.seconds) if each is not None]) != 1:
            raise ValueError("give one of trials, updates and seconds")
        return self

    @property
    def unit(self) -> Unit:
        """What is counted."""
        return "trials" if self.trials is not None else "updates" if self.updates is not None else "seconds"

    @property
    def most(self) -> float:
        """How much of it there is."""
        return next(each for each in (self.trials, self.updates, self.seconds) if each is not None)


class Confirm(Request):
    """How the best configs of each arm are trained again, with seeds that no search has seen."""

    configs: Annotated[int, Field(ge=1, le=MOST_SEARCHES)] | None = Field(
        default=None, description="Of each arm, those of different searches first. Null: one of each search."
    )
    seeds: Annotated[int, Field(ge=1, le=1000)] = Field(default=3, description="Runs of each of them.")


class ComparisonSpec(Request):
    """A comparison as its author submits it: what all arms have alike, and the arms."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    name: ComparisonName
    task: Name = Field(description="What to train: a task that some worker offers.")
    settings: Settings = {}
    space: Dimensions = Field(default={}, description="The dimensions that all arms search.")
    strategy: Strategy = "biased_random"
    arms: Annotated[list[Arm], Field(min_length=2, max_length=MOST_ARMS)] = Field(
        description="No two of the same label."
    )
    budget: Effort = Field(description="Of each search, the same for all.")
    replicates: Replicates = 10
    confirm: Confirm | None = Field(
        default_factory=Confirm,  # a default in the document would be an object that generators refuse
        description="Left out: the best of each search. Null: nothing, and no verdict is more than a hint.",
    )
    seed: Seed = Field(default=0, description="Decides every seed; a replicate has the same in all arms.")
    direction: Direction = Field(default="minimize", description="Whether small or large values are good.")
    parallel: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="Trials of a search at once. With more than one it cannot be repeated exactly."
    )
    target: FiniteFloat | None = Field(
        default=None,
        description="The value that confirmed configs are to reach. Null: the worst arm's.",
    )
    metric: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        default=None,
        description="Of the reports, that is to reach the target. Null: a usual name.",
    )
    within: Annotated[FiniteFloat, Field(gt=0, le=1000)] = Field(
        default=10.0,
        description="Per cent of the way from the best trial to the median one: near the best.",
    )
    requires: Requires = Field(default=Requires(), description="What a slot must have to train its trials.")
    priority: Priority = 10
    tags: Tags = []
    notes: Notes = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        labels = [arm.label for arm in self.arms]
        if twice := sorted({label for label in labels if labels.count(label) > 1}):
            raise ValueError(f"two arms are called {twice[0]!r}; give each a label of its own")
        if len(self.arms) * self.replicates > MOST_SEARCHES:
            raise ValueError(
                f"{len(self.arms)} arms x {self.replicates} replicates are more than {MOST_SEARCHES} searches"
            )
        if self.confirm and (self.confirm.configs or self.replicates) * self.confirm.seeds > MOST_RUNS:
            raise ValueError(f"at most {MOST_RUNS} runs confirm the configs of an arm")
        return self


class ComparisonChanges(Changes):
    """What to change of a comparison; what is left out stays."""

    model_config = ConfigDict(
        json_schema_extra={
            "minProperties": 1,
            "examples": [{"state": "paused"}, {"replicates": 20}, {"budget": {"trials": 50}}],
        }
    )

    state: Annotated[Literal["active", "paused", "stopped"] | None, NeverNull()] = Field(
        default=None, description="paused lets running trials finish, stopped has them given back."
    )
    budget: Annotated[Effort | None, NeverNull()] = Field(
        default=None, description="More of the same unit; what was confirmed is confirmed anew."
    )
    replicates: Annotated[Replicates | None, NeverNull()] = Field(
        default=None, description="More than there are."
    )
    priority: Annotated[Priority | None, NeverNull()] = None
    tags: Annotated[Tags | None, NeverNull()] = None
    notes: Annotated[Notes | None, NeverNull()] = None


class Cost(Answer):
    """What a comparison costs, or has cost so far."""

    searches: int = Field(description="One of each arm and replicate.")
    trials: float | None = Field(description="Of searches; null where another unit limits them.")
    runs: int = Field(description="That confirm configs.")
    updates: int | None = Field(description="Of trials and runs; null where it cannot be known before.")
    seconds: float | None = Field(
        default=None,
        description="Of training; planned, those of the searches alone, and null where another unit "
        "limits them.",
    )


class SearchLine(Answer):
    """One search of an arm, or the runs that confirm its configs, as a study."""

    study: str = Field(description="The name of the study.")
    replicate: int | None = Field(description="From 1 on; null of the runs that confirm.")
    state: StudyState = Field(
        description="The comparison is not complete before a paused or stopped one goes on."
    )
    finished: int = Field(description="Trials that have ended, however they did.")
    expected: int | None = Field(description="Trials; null where another unit limits them.")
    best: float | None = Field(description="The best value so far; null without a success.")


class ArmLine(Answer):
    """An arm and how far its searches are."""

    label: str = Field(description="The label of the arm.")
    task: str = Field(description="What it trains.")
    strategy: str = Field(description="In words.")
    searches: list[SearchLine] = Field(description="Empty in a list of comparisons.")
    confirmation: SearchLine | None = Field(
        default=None, description="Its configs, trained again; null before that begins."
    )


class Comparison(Answer):
    """A comparison as it stands."""

    project: InProject = "default"
    name: str = Field(description="Unique in its project.")
    spec: dict[str, JsonValue] = Field(
        title="As submitted",  # generators name its class by it: beside ComparisonSpec, "Spec" is taken
        description="As it was submitted, with what was changed since.",
    )
    state: StudyState = Field(description="Of all of it; one study may be paused or stopped by itself.")
    stage: Literal["searching", "confirming", "done"] = Field(
        description="Confirming begins when the last search has ended."
    )
    arms: list[ArmLine] = Field(description="As submitted.")
    planned: Cost = Field(description="What all of it costs, as far as that can be said before.")
    spent: Cost = Field(description="What it has cost so far.")
    progress: float = Field(description="From 0 to 1, in the unit of the budget.")
    waits_for: str | None = Field(
        default=None, description="Why it does not go on, in a sentence; null if it does, or has ended."
    )
    eta: datetime | None = Field(
        default=None, description="When all is done if as many go on to train at once; null if unknown."
    )
    priority: int = Field(
        default=10, description="The weight of each of its studies where workers are shared, 1 to 100."
    )
    tags: list[str] = Field(default=[], description="Names to find it again by.")
    notes: str = Field(default="", description="A text of its author's, kept beside it.")
    created_at: CreatedAt
    completed_at: datetime | None = Field(
        default=None, description="When all of it had ended; null while it goes on."
    )
    archived_at: datetime | None = Field(
        default=None, description="When it was deleted, which keeps its history; null if it was not."
    )


class Comparisons(Answer):
    """A page of comparisons, newest first."""

    comparisons: list[Comparison] = Field(description="Without their searches.")
    next: NextPage


# What is reported. Losses are told as the user's values; null where there is none, or none that is finite.


class Band(Answer):
    """A line with its interval: lists of one length."""

    at: list[float] = Field(description="Of what the line is a function of.")
    mean: list[float | None] = Field(description="Null where it is not finite.")
    low: list[float | None] = Field(description="Null where there are too few replicates.")
    high: list[float | None] = Field(description="Null where `low` is.")


class Searched(Answer):
    """What a search came to."""

    replicate: int = Field(description="From 1.")
    study: str = Field(description="The name of the study.")
    trials: int = Field(description="That have ended, however they did.")
    updates: int = Field(description="Of these trials, by the last step of each.")
    seconds: float = Field(description="That these trials have trained, each in its last attempt.")
    diverged: int = Field(description="How many of these trials did.")
    failed: int = Field(description="How many of these trials did.")
    spent: list[float] = Field(description="In the unit of the budget, where the best so far improved.")
    best: list[float] = Field(description="The best value so far, from each of these on.")
    final: float | None = Field(
        description="The best value of all that ended within the budget; null without a success."
    )
    trial: int | None = Field(description="Which has the best value.")


class Confirmed(Answer):
    """A config that was trained again."""

    replicate: int = Field(description="The search that found it.")
    trial: int = Field(description="Its number in that search, from 0.")
    config: Config
    searched: float = Field(description="The value for which it was chosen: too good by the luck of that.")
    values: list[float | None] = Field(description="Of the runs; null where one diverged or failed.")
    mean: float | None = Field(description="Of these values; null where one of them is.")


class Headline(Answer):
    """What an arm comes to on seeds that no search has seen."""

    mean: float | None = Field(description="Over the searches; null where one of them has no finite value.")
    deviation: float | None = Field(description="Of the runs.")
    low: float | None = Field(description="Of the interval of the mean, where there are enough replicates.")
    high: float | None = Field(description="Null where `low` is.")
    runs: int = Field(description="How many values there are: of runs, or one of each search.")
    diverged: int = Field(description="How many of these are not finite, also of those that failed.")


class Sensitivity(Answer):
    """How much depends on the config, by the trials of the searches."""

    trials: int = Field(description="That have ended, in all searches of the arm.")
    within: float = Field(description="Per cent of the way from the best trial of all arms to the median.")
    share: float | None = Field(description="Of the trials that are within so much of the best.")
    diverged: float | None = Field(description="The share of trials that diverged.")
    is_unbiased: bool = Field(description="Whether the strategy looks everywhere alike: random draws.")


class Training(Answer):
    """How a confirmed config of an arm learns: over its runs. Null from where one of them diverged."""

    metric: str = Field(description="Of the reports.")
    over: Literal["updates", "seconds"] = Field(
        description="What the curve is a function of: the step, or the metric `seconds`."
    )
    line: Band = Field(description="The mean over the runs.")


class BestBy(Answer):
    """The confirmed config whose runs end best by one metric. Chosen for these runs, so it flatters."""

    metric: str = Field(description="Of the reports.")
    replicate: int = Field(description="The search that found it.")
    trial: int = Field(description="Its number in that search, from 0.")
    mean: float = Field(description="Of the runs, at their ends.")
    training: list[Training] = Field(description="By this metric, over updates and over seconds.")


class Reached(Answer):
    """When the first confirmed config of an arm reaches the target: the median of its runs."""

    target: float = Field(
        description="A value of the metric: that of the comparison, or else where the arm ends that "
        "ends worst."
    )
    metric: str = Field(description="Of the reports.")
    runs: int = Field(description="How many there are.")
    reached: int = Field(description="How many of the runs do.")
    updates: float | None = Field(description="Null where less than half of them do.")
    seconds: float | None = Field(
        description="By the metric `seconds`; null where less than half of them do, or do not tell it."
    )


class ArmReport(Answer):
    """An arm and what it came to."""

    label: str = Field(description="The label of the arm.")
    task: str = Field(description="What it trains.")
    strategy: str = Field(description="In words.")
    settings: dict[str, Scalar] = Field(description="What every trial of it trains with.")
    dimensions: list[str] = Field(description="The names of what its searches choose.")
    searches: list[Searched] = Field(description="Those of which a trial has ended.")
    expected: Band = Field(description="The mean over the searches of the best value so far.")
    order_statistic: Band | None = Field(
        description="Of random search: the expected best of so many trials, out of all of them."
    )
    spent_to_match: float | None = Field(
        default=None,
        description="In the unit of the budget: when its mean is as good as the worst arm's at the end.",
    )
    final: Headline = Field(
        description="Of the searches. It flatters: each best was chosen for its luck too."
    )
    confirmed: list[Confirmed] = Field(description="As the searches prefer them, the best first.")
    headline: Headline | None = Field(
        description="Of the runs that confirm the best config of each search; null before the first."
    )
    sensitivity: Sensitivity = Field(description="How much depends on the config.")
    training: list[Training] = Field(description="Of the first confirmed config.")
    best_by: list[BestBy] = Field(default=[], description="Train, validation: each loss and error.")
    reached: Reached | None = Field(description="Null where there is no run, or no target.")


class Pair(Answer):
    """What can be said of two arms."""

    better: str = Field(description="The label of the one that did better, shown or not.")
    worse: str = Field(description="The label of the other.")
    verdict: Literal["shown", "not shown", "with care"] = Field(
        description="`with care`: significant, but from searches alone, or not fair in all."
    )
    says: str = Field(description="In a sentence.")
    basis: Literal["confirmed", "searched"] = Field(description="Which numbers were compared.")
    p: float | None = Field(description="Of the exact signed-rank test of the pairs of one seed.")
    adjusted: float | None = Field(description="With Holm's correction for all pairs of arms.")
    difference: float | None = Field(description="How much better: the median of all means of two pairs.")
    low: float | None = Field(description="Of its interval.")
    high: float | None = Field(description="Null where it has no finite end.")
    wins: int = Field(description="Pairs of one seed in which it did better.")
    ties: int = Field(description="Pairs in which both did alike.")
    pairs: int = Field(description="One of each replicate that every arm has finished.")
    wins_low: float | None = Field(description="Of the interval of the share of wins, ties left out.")
    wins_high: float | None = Field(description="Null where all pairs are ties.")


class Check(Answer):
    """Something that a fair comparison has."""

    name: str = Field(description="Such as `equal budget`.")
    is_met: bool = Field(description="Whether this comparison has it.")
    told: str = Field(description="What there is, in words.")


class ComparisonReport(Answer):
    """What came of a comparison. Repeated, all is the same but what is told in seconds."""

    name: str = Field(description="The name of the comparison.")
    project: InProject = "default"
    state: StudyState = Field(description="Of the comparison, when the report was computed.")
    is_complete: bool = Field(description="False: what is told may change.")
    direction: Direction = Field(description="Whether small or large values are good.")
    unit: Unit = Field(description="What the budget counts.")
    budget: float = Field(description="What each search may spend, in its unit.")
    replicates: int = Field(description="How many searches each arm is to have.")
    spent: Cost = Field(
        description="What trials and runs that have ended took; of runs as far as their curves tell."
    )
    checks: list[Check] = Field(description="What a fair comparison has, each met or not.")
    pairs: list[Pair] = Field(description="Best first; none below 8 replicates.")
    says: list[str] = Field(description="The whole in a few sentences.")
    arms: list[ArmReport] = Field(description="As submitted.")


class ProfileLine(Answer):
    """On which share of the workloads an arm needs at most so many times the least effort."""

    label: str = Field(description="The label of the arm.")
    factor: list[float] = Field(description="Where the line steps, from 1 on: times the least effort.")
    share: list[float] = Field(description="From each of these on, from 0 to 1.")
    area: float = Field(description="Under the line, up to the largest factor: 1 is the fastest everywhere.")


class Profile(Answer):
    """Performance profiles of arms over several comparisons, each one a workload."""

    comparisons: list[str] = Field(description="Their names.")
    over: Literal["updates", "seconds"] = Field(description="What effort is counted in.")
    largest_factor: float = Field(description="What is slower counts as not reached.")
    lines: list[ProfileLine] = Field(description="One for each arm that all of them have.")
    needed: dict[str, dict[str, float | None]] = Field(
        description="By comparison and arm: what reaching its target took; null where it was not reached."
    )
