"""A webhook: an address that is told of the events of studies."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.domain.event import Event
from app.domain.study import StudyId

FIRST_PAUSE: Final = timedelta(seconds=1)
LONGEST_PAUSE: Final = timedelta(hours=1)
MOST_FAILURES: Final = 50  # in a row


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """What somebody asks to be told, and where."""

    project: str
    study: str | None  # none: every study of the project
    url: str
    kinds: tuple[str, ...]  # none: all


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """A webhook as it stands."""

    id: int
    subscription: Subscription
    is_active: bool
    failures: int  # in a row
    last_error: str | None
    behind: int  # events that it has not been told yet
    created_at: datetime
    created_by: str


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Events of one study on their way to one webhook: until they have arrived always the same ones."""

    webhook: int
    url: str
    secret: str
    project: str
    study: str
    study_id: StudyId
    through: int  # the number up to which the webhook knows all once this has arrived
    events: list[Event]
    failures: int  # of the webhook so far, in a row
    due_at: datetime  # when another sender may take it

    @property
    def id(self) -> str:
        return f"{self.webhook}-{self.study_id}-{self.events[0].seq}-{self.through}"


def pause(failures: int, chance: float) -> timedelta:
    """Return how long to wait after so many failures in a row; chance in [0, 1) spreads the senders."""
    doublings = min(failures - 1, 20)
    return min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE) * (0.5 + chance / 2)
