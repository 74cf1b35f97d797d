"""What a storage of Optuna keeps: studies of one objective or several, and their trials."""

import json
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.config import JsonDict

from thiessen.contract.leases import Metric
from thiessen.contract.words import NO_NUL, Answer, Changes, Direction, Instant, NeverNull, NextPage, Request

LARGEST_TEXT: Final = 900_000  # characters of a value, and of all of a trial: it fits into one body, escaped
MOST_NAMED: Final = 1000  # of a kind in one request
LARGEST_STEP: Final = 2**53

OptunaState = Literal["waiting", "running", "complete", "pruned", "fail"]
OptunaName = Annotated[str, Field(max_length=500, pattern=NO_NUL)]


def _read(text: str) -> str:
    try:
        json.loads(text)
    except RecursionError as error:
        raise ValueError("the JSON in this text is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"the text is not JSON: {error}") from error
    return text


JsonText = Annotated[
    str,
    Field(
        max_length=LARGEST_TEXT,
        pattern=NO_NUL,
        description="JSON as a text, in which Python's NaN, Infinity and -Infinity may stand.",
        examples=['"adam"'],
    ),
    AfterValidator(_read),
]
Named = Annotated[dict[OptunaName, JsonText], Field(max_length=MOST_NAMED)]
UserAttributes = Annotated[Named, Field(description="What programs set, by name: JSON as texts.")]
SystemAttributes = Annotated[Named, Field(description="What Optuna itself sets, by name: JSON as texts.")]
Directions = Annotated[
    list[Direction], Field(min_length=1, max_length=32, description="One for each objective.")
]
Values = Annotated[
    list[Metric], Field(min_length=1, max_length=32, description="One for each objective; none is NaN.")
]


class OptunaParam(Request):
    """What a trial was given for one of its parameters."""

    value: Metric = Field(description="As Optuna keeps it: the number, or the place among the choices.")
    distribution: JsonText = Field(
        description="As Optuna writes it.",
        examples=['{"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": false}}'],
    )


class OptunaIntermediate(Request):
    """What a trial reported at a step."""

    step: Annotated[int, Field(ge=-LARGEST_STEP, le=LARGEST_STEP)] = Field(
        description="Where; a value that is told again for a step replaces the one before."
    )
    value: Metric = Field(description="What was reported; also `NaN`, `Infinity` and `-Infinity`, as texts.")


PARAM: Final[JsonDict] = {
    "value": 0.1,
    "distribution": '{"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": false}}',
}
Params = Annotated[
    dict[OptunaName, OptunaParam],
    Field(max_length=MOST_NAMED, description="What the trial was given, by name, kept in this order."),
]
Intermediates = Annotated[
    list[OptunaIntermediate],
    Field(max_length=20_000, description="What it reported; a step that is told again has the new value."),
]


class OptunaStudySpec(Request):
    """A study of Optuna to be kept."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "digits", "directions": ["minimize"]}]}
    )

    name: OptunaName = Field(description="Not taken by another study of Optuna in the project.")
    directions: Directions
    user_attributes: UserAttributes = {}
    system_attributes: SystemAttributes = {}


class OptunaStudy(Answer):
    """A study of Optuna."""

    id: int = Field(description="Unique on the server: what other calls name it by.")
    name: str = Field(description="Unique among those of Optuna in its project.")
    directions: list[Direction] = Field(description="One for each objective.")
    user_attributes: dict[str, str] = Field(description="What programs set, by name: JSON as texts.")
    system_attributes: dict[str, str] = Field(description="What Optuna itself sets, by name: JSON as texts.")


class OptunaStudies(Answer):
    """A page of Optuna's studies, oldest first."""

    studies: list[OptunaStudy] = Field(
        description="With their attributes; fewer than asked for where these are long."
    )
    next: NextPage


class OptunaAttributes(Request):
    """Attributes to be set; others stay."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user_attributes": {"author": '"ann"'}}]})

    user_attributes: UserAttributes = {}
    system_attributes: SystemAttributes = {}


class OptunaTrialSpec(Request):
    """A trial to begin with: with what it has already, and in the state that it is in."""

    state: OptunaState = Field(default="running", description="A `complete` one needs values.")
    values: Values | None = Field(
        default=None, description="One for each objective, none of them NaN; null: none yet."
    )
    started_at: Instant | None = Field(default=None, description="Now, unless told or waiting.")
    completed_at: Instant | None = Field(default=None, description="Now, unless told or not finished.")
    params: Params = {}
    user_attributes: UserAttributes = {}
    system_attributes: SystemAttributes = {}
    intermediate_values: Intermediates = []


class OptunaTrialSpecs(Request):
    """Trials to be added, all of them or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"trials": [{}]},
                {"trials": [{"state": "complete", "values": [0.31], "params": {"lr": PARAM}}]},
            ]
        }
    )

    trials: Annotated[list[OptunaTrialSpec], Field(min_length=1, max_length=1000)] = Field(
        description="They are numbered in this order."
    )


class OptunaTrialNumber(Answer):
    """How a trial is called: by its id everywhere, by its number in its study."""

    id: int = Field(description="Unique on the server: what other calls name it by.")
    number: int = Field(description="In its study, from 0.")


class AddedOptunaTrials(Answer):
    """The trials that were added, in the order sent."""

    trials: list[OptunaTrialNumber] = Field(description="One for each that was sent.")


class OptunaTrialChanges(Changes):
    """What to set of a trial that has not finished, all of it or nothing; what is left out stays."""

    model_config = ConfigDict(
        json_schema_extra={
            "minProperties": 1,
            "examples": [
                {"params": {"lr": PARAM}},
                {"intermediate_values": [{"step": 3, "value": 0.5}]},
                {"state": "complete", "values": [0.31]},
            ],
        }
    )

    state: Annotated[OptunaState | None, NeverNull()] = Field(
        default=None, description="Only one of those who set a waiting trial running is told that it changed."
    )
    values: Annotated[Values | None, NeverNull()] = None
    params: Params = {}
    user_attributes: UserAttributes = {}
    system_attributes: SystemAttributes = {}
    intermediate_values: Intermediates = []


class OptunaTrialChanged(Answer):
    """What came of a change."""

    is_changed: bool = Field(description="False: it was to run and runs already, so nothing was set.")


class OptunaTrial(Answer):
    """A trial of Optuna with all that is known of it."""

    id: int = Field(description="Unique on the server: what other calls name it by.")
    number: int = Field(description="In its study, from 0.")
    study_id: int = Field(description="The id of its study.")
    state: OptunaState = Field(
        description="waiting, running, or how it has finished: complete, pruned, fail."
    )
    values: list[Metric] | None = Field(description="One for each objective; null while there are none.")
    started_at: datetime | None = Field(description="When it began to run, or as told; null before.")
    completed_at: datetime | None = Field(description="When it finished, or as told; null while it has not.")
    params: dict[str, OptunaParam] = Field(description="In the order in which they were set.")
    user_attributes: dict[str, str] = Field(description="What programs set, by name: JSON as texts.")
    system_attributes: dict[str, str] = Field(description="What Optuna itself sets, by name: JSON as texts.")
    intermediate_values: list[OptunaIntermediate] = Field(description="What it reported, each step once.")


class OptunaTrials(Answer):
    """The trials of a study that changed since a number, in the order of their last changes."""

    trials: list[OptunaTrial] = Field(description="As they are now; a trial that changes again comes again.")
    seq: int = Field(description="Ask for what changed `since` this number next time.")
    is_all: bool = Field(description="False: there is more; ask again at once.")


class StaleOptunaTrials(Answer):
    """The running trials of which nothing was heard for too long."""

    trials: list[int] = Field(description="Their ids.")
