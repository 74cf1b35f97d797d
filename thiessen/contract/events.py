"""Events: what happened in a study, in order."""

from datetime import datetime

from pydantic import Field, JsonValue

from thiessen.contract.words import Answer


class Event(Answer):
    """One thing that happened in a study."""

    seq: int = Field(description="Its number in the study: from 1, without gaps.")
    at: datetime = Field(description="When it happened, by the clock of the database.")
    who: str = Field(description="The name of the token that did it; `anonymous` without one, or `server`.")
    kind: str = Field(description="Such as `trial.moved`; new kinds may come.")
    trial: int | None = Field(description="The trial's number, when it is about a trial.")
    attempt: int | None = Field(
        description="The number of the attempt in which a trial was moved, from 1; null outside of one."
    )
    before: str | None = Field(description="The trial's state before.")
    after: str | None = Field(description="The trial's state now.")
    cause: str | None = Field(
        description="Why a trial failed, went back to the queue or got its result late; else null."
    )
    data: dict[str, JsonValue] | None = Field(
        description="The origin of a new trial, what of a study was changed; else null, or empty."
    )


class EventPage(Answer):
    """Events in order, and where to go on."""

    events: list[Event] = Field(description="By their numbers.")
    next: int = Field(description="Ask with `after` set to this for what came later.")
    removed: int = Field(
        default=0, description="Events up to this number are not kept any more; 0 when all are."
    )
