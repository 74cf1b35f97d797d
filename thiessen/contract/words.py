"""The small types that several messages share, with their limits."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    GetJsonSchemaHandler,
    JsonValue,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import CoreSchema

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
TASK = "program"  # of studies whose trials are tried by the programs that ask for them
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
Config = Annotated[
    dict[str, Scalar], Field(description="A value for each dimension that is active, by its name.")
]
Text = Annotated[str, Field(max_length=10_000, pattern=NO_NUL)]
Label = Annotated[str, Field(max_length=200, pattern=NO_NUL)]

_WRITTEN_OUT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]")


def _written_out(sent: object) -> object:
    if isinstance(sent, datetime) or (isinstance(sent, str) and _WRITTEN_OUT.match(sent)):
        return sent
    raise ValueError("a time is written out with its offset, as in 2027-01-31T18:00:00Z")


def _in_any_zone(time: datetime) -> datetime:
    if not 1970 <= time.year <= 9998:
        raise ValueError(f"the year {time.year} is not one from 1970 to 9998")
    return time


Instant = Annotated[
    AwareDatetime,
    BeforeValidator(_written_out),
    AfterValidator(_in_any_zone),
    Field(strict=False, description="With its offset: 2027-01-31T18:00:00Z."),
]
StudyState = Literal["active", "paused", "stopped", "completed"]
TrialState = Literal["queued", "running", "succeeded", "diverged", "pruned", "failed", "cancelled"]
Origin = Literal["proposed", "enqueued", "imported", "memoised"]
Cause = Literal[
    "error", "out_of_memory", "stalled", "time_limit", "lost", "released", "attempts_used_up", "retried",
    "late",
]  # fmt: skip
Direction = Literal["minimize", "maximize"]
Verdict = Literal["continue", "prune", "stop", "drain"]
Notes = Annotated[
    str, Field(max_length=10_000, pattern=NO_NUL, description="A text of your own, kept beside it.")
]
Tags = Annotated[list[Name], Field(max_length=50, description="Names to find it again by.")]
InProject = Annotated[str, Field(description="The project that it is in.")]
InStudy = Annotated[str, Field(description="The name of the study that it is in.")]
TrialNumber = Annotated[int, Field(description="The trial's number in its study, from 0.")]
CreatedAt = Annotated[datetime, Field(description="When it was created.")]
NextPage = Annotated[str | None, Field(description="The cursor of the next page; null at the end.")]
LARGEST_ATTRIBUTES = 16_000  # characters of JSON


def _readable(value: JsonValue) -> JsonValue:
    for text in _texts(value):
        if "\0" in text:
            raise ValueError("no text has the character NUL in it")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError("half of a surrogate pair is no character")
    return value


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield every text in it, those of keys too."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case list() as items:
                left += items
            case dict() as members:
                left += [*members, *members.values()]
            case _:
                pass


Json = Annotated[JsonValue, AfterValidator(_readable)]  # that every database and every reader takes


def _bounded(attributes: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(json.dumps(attributes)) > LARGEST_ATTRIBUTES:
        raise ValueError(
            f"attributes are at most {LARGEST_ATTRIBUTES} characters of JSON; keep files elsewhere"
        )
    return attributes


Attributes = Annotated[
    dict[Label, Json], AfterValidator(_bounded), Field(description="JSON of your own, kept beside it.")
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


class NeverNull:
    """Marks what may be left out but not sent as null: its schema promises no null."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema: dict[str, Any] = handler(core)
        [value] = [kind for kind in schema.pop("anyOf") if kind != {"type": "null"}]
        return {**schema, **value}


class Request(BaseModel):
    """What a client sends; nothing is guessed: neither a number from a string nor one from true."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


class Changes(Request):
    """What is to be changed of something: what is left out stays."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("there is nothing to change; name at least one field")
        for name in self.model_fields_set:
            is_kept = any(isinstance(note, NeverNull) for note in type(self).model_fields[name].metadata)
            if is_kept and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null; leave it out to keep it")
        return self


class Answer(BaseModel):
    """What the server sends."""

    model_config = ConfigDict(extra="ignore", frozen=True)
