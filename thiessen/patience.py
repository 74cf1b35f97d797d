"""How long a program bears with a server that is away."""

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from thiessen.errors import ServerFailed, ServerUnreachable, TooManyRequests

LONGEST_PAUSE: Final = 10.0  # seconds between two tries
FIRST_PAUSE: Final = 1.0
LATER: Final = (ServerUnreachable, ServerFailed, TooManyRequests)  # the same call may succeed later

T = TypeVar("T")

log = logging.getLogger(__name__)


class Stopped(Exception):  # noqa: N818 - says what happened
    """It was told to stop before the server answered."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Ends with `stop`, and with an outage that is too long."""

    stop: threading.Event
    offline_seconds: float

    def bears(self, since: float) -> bool:
        """Return whether an outage since that monotonic time is borne still."""
        return time.monotonic() - since <= self.offline_seconds

    def until_answered(self, call: Callable[[], T], *, longest_pause: float = LONGEST_PAUSE) -> T:
        """Call until the server answers. Raises Stopped, Refused, or what lasted too long."""
        begun = time.monotonic()
        pause = min(FIRST_PAUSE, longest_pause)
        while True:
            try:
                return call()
            except LATER as error:
                if self.stop.is_set():
                    raise Stopped from error
                if not self.bears(begun):
                    raise
                log.warning("trying again in %.1f s: %s", pause, error)
            self.stop.wait(pause * random.uniform(0.8, 1.2))
            pause = min(pause * 2, longest_pause)
