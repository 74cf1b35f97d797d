"""Studies: what is submitted, and what is read back."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag
from pydantic.config import JsonDict

from thiessen.contract.space import Space
from thiessen.contract.words import Answer, Config, Name, Request, Seed, StudyState

Strategy = Annotated[
    Annotated[str, Tag("name")] | Annotated[dict[str, JsonValue], Tag("settings")],
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


class StudySpec(Request):
    """A study as its author submits it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    name: Name
    task: Name = Field(description="What to train: a task that some worker offers.")
    space: Space
    strategy: Strategy = "biased_random"
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
    strategy: dict[str, JsonValue] = Field(description="Its name, its version, and every setting.")
    seed: int
    max_trials: int
    max_attempts: int
    state: StudyState
    reason: str | None = Field(description="Why it is completed.")
    counts: Counts
    best: BestConfig | None
    created_at: datetime
