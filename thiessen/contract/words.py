"""The small types that several messages share, with their limits."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StrictBool, StrictInt, StrictStr

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
NO_NUL = r"^[^\x00]*$"  # PostgreSQL keeps no such character
Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=NAME,
        description="Letters, digits, dot, underscore and hyphen; begins with a letter or digit.",
    ),
]
Seed = Annotated[int, Field(ge=0, lt=2**53, description="Below 2**53, so that every JSON reader keeps it.")]
Scalar = StrictBool | StrictInt | FiniteFloat | Annotated[StrictStr, Field(max_length=1000)] | None
Config = dict[str, Scalar]
Text = Annotated[str, Field(max_length=10_000, pattern=NO_NUL)]
Label = Annotated[str, Field(max_length=200, pattern=NO_NUL)]
StudyState = Literal["active", "completed"]
TrialState = Literal["queued", "running", "succeeded", "diverged", "failed"]
Cause = Literal["error", "out_of_memory", "attempts_used_up"]

EventKind = Literal[
    "study.created",
    "study.changed",
    "study.completed",
    "study.archived",
    "trial.created",
    "trial.moved",
    "trial.noted",
]


class Request(BaseModel):
    """What a client sends; nothing is guessed: neither a number from a string nor one from true."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


class Answer(BaseModel):
    """What the server sends."""

    model_config = ConfigDict(extra="ignore", frozen=True)
