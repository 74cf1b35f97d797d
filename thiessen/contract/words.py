"""The small types that several messages share, with their limits."""

import json
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    StrictBool,
    StrictInt,
    StrictStr,
)

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
Instant = Annotated[AwareDatetime, Field(strict=False, description="With its offset: 2027-01-31T18:00:00Z.")]
StudyState = Literal["active", "paused", "stopped", "completed"]
TrialState = Literal["queued", "running", "succeeded", "diverged", "pruned", "failed", "cancelled"]
Origin = Literal["proposed", "enqueued", "imported", "memoised"]
Cause = Literal[
    "error", "out_of_memory", "stalled", "time_limit", "lost", "released", "attempts_used_up", "retried",
    "late",
]  # fmt: skip
Direction = Literal["minimize", "maximize"]
Verdict = Literal["continue", "prune", "stop", "drain"]
Notes = Annotated[str, Field(max_length=10_000, pattern=NO_NUL)]
Tags = Annotated[list[Name], Field(max_length=50)]
LARGEST_ATTRIBUTES = 16_000  # characters of JSON


def _bounded(attributes: dict[str, JsonValue]) -> dict[str, JsonValue]:
    written = json.dumps(attributes)
    if len(written) > LARGEST_ATTRIBUTES:
        raise ValueError(
            f"attributes are at most {LARGEST_ATTRIBUTES} characters of JSON; keep files elsewhere"
        )
    if "\\u0000" in written:
        raise ValueError("no character of an attribute is NUL")
    return attributes


Attributes = Annotated[
    dict[Label, JsonValue], AfterValidator(_bounded), Field(description="JSON of your own, kept beside it.")
]

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
