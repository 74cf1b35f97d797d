"""Studies: what is submitted, and what is read back."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from thiessen.contract.space import Space
from thiessen.contract.words import Answer, Config, Name, Request, Seed, StudyState

StrategyName = Literal["biased_random", "grid", "quasi_random", "random"]

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


class StudySpec(Request):
    """A study as its author submits it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    name: Name
    task: Name = Field(description="What to train: a task that some worker offers.")
    space: Space
    strategy: StrategyName = Field(default="biased_random", description="How configs are proposed.")
    seed: Seed = Field(default=0, description="Decides every proposal and every trial's own seed.")
    max_trials: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    max_attempts: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="How often a trial is tried when workers vanish or its training fails."
    )


class Counts(Answer):
    """How many trials are in each state."""

    queued: int
    running: int
    succeeded: int
    diverged: int
    failed: int


class BestConfig(Answer):
    """One line of a ranking."""

    rank: int
    study: str
    trial: int
    loss: float
    config: Config
    seed: int = Field(description="The seed it trained with: the same config and seed give the same loss.")


class Best(Answer):
    """The best configs, best first."""

    best: list[BestConfig]


class Study(Answer):
    """A study as it stands."""

    name: str
    task: str
    space: dict[str, dict[str, object]]
    strategy: str
    seed: int
    max_trials: int
    max_attempts: int
    state: StudyState
    reason: str | None = Field(description="Why it is completed.")
    counts: Counts
    best: BestConfig | None
    created_at: datetime
