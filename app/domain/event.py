"""An event: one thing that happened in a study, numbered in it and never changed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event as its readers get it; one of a trial names it, and one of a move its states."""

    seq: int
    at: datetime
    who: str
    kind: str
    trial: int | None
    attempt: int | None
    before: str | None
    after: str | None
    cause: str | None
    data: dict[str, Any] | None
