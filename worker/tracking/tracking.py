"""Attempts told to trackers, each in a thread of its own: what one does or does not do harms no training."""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Final, Literal, Protocol, Self

from thiessen.contract import Diverged, Failure, Lease, Point, Pruned, Value
from worker.child import Ending, GivenBack

MOST_WAITING: Final = 10_000  # points; what comes while so many wait is left out
CLOSE_SECONDS: Final = 10.0  # for what waits, when the worker ends

log = logging.getLogger("thiessen.worker")


@dataclass(frozen=True)
class Began:
    """An attempt began."""

    lease: Lease
    at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Reported:
    """It came to a point of its curve."""

    lease: Lease
    point: Point
    at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Ended:
    """It ended, in whatever way."""

    lease: Lease
    outcome: Literal["succeeded", "diverged", "pruned", "failed", "released", "lost"]
    value: float | None = None
    message: str = ""
    at: float = field(default_factory=time.time)


Event = Began | Reported | Ended


class Tracker(Protocol):
    """Writes attempts down. One thread calls it; it may raise, and take as long as it likes."""

    def begin(self, began: Began) -> None:
        """Begin what stands for an attempt."""

    def report(self, reported: Reported) -> None:
        """Add a point; one of an attempt that is not known is passed over."""

    def end(self, ended: Ended) -> None:
        """Add what the attempt came to, and let go of it."""


class Tracking:
    """Tells trackers, by their kinds, of every attempt."""

    def __init__(self, trackers: Mapping[str, Tracker] | None = None) -> None:
        self._hands = [_Hand(kind, tracker) for kind, tracker in (trackers or {}).items()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def begin(self, lease: Lease) -> "Tracked":
        """Say that an attempt begins; return what is to be told of it."""
        return Tracked(self, lease)

    def tell(self, event: Event) -> None:
        """Return at once, whatever the trackers do."""
        for hand in self._hands:
            hand.tell(event)

    def close(self) -> None:
        """Return when all is written, and at the latest after CLOSE_SECONDS."""
        by = time.monotonic() + CLOSE_SECONDS
        for hand in self._hands:
            hand.close()
        for hand in self._hands:
            hand.wait(by - time.monotonic())


class Tracked:
    """One attempt."""

    def __init__(self, tracking: Tracking, lease: Lease) -> None:
        self._tracking = tracking
        self._lease = lease
        self._has_ended = False
        tracking.tell(Began(lease))

    def reached(self, point: Point) -> None:
        self._tracking.tell(Reported(self._lease, point))

    def end(self, ending: Ending | GivenBack | None) -> None:
        """Say what the attempt ended with, None where it lost its lease; only the first time counts."""
        if not self._has_ended:
            self._has_ended = True
            self._tracking.tell(_ended(self._lease, ending))


def place(lease: Lease) -> str:
    """Return the name of its study among those of all projects."""
    return lease.study if lease.project == "default" else f"{lease.project}/{lease.study}"


class _Hand:
    """The thread of one tracker, and what waits for it."""

    def __init__(self, kind: str, tracker: Tracker) -> None:
        self._kind = kind
        self._tracker = tracker
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._warned_of: Lease | None = None
        self._thread = threading.Thread(target=self._write_all, name=f"tracker-{kind}", daemon=True)
        self._thread.start()

    def tell(self, event: Event) -> None:
        most = MOST_WAITING if isinstance(event, Reported) else 2 * MOST_WAITING  # ends are worth more
        if self._events.qsize() < most:
            self._events.put(event)
        else:
            self._warn(event, f"it is behind by {most} entries")

    def close(self) -> None:
        self._events.put(None)

    def wait(self, seconds: float) -> None:
        self._thread.join(max(seconds, 0.0))
        if self._thread.is_alive():
            log.warning(
                "%s has not taken the last %d entries: they are lost.", self._kind, self._events.qsize()
            )

    def _write_all(self) -> None:
        while (event := self._events.get()) is not None:
            try:
                self._write(event)
            except Exception as error:  # noqa: BLE001 - somebody else's package, disk or server
                self._warn(event, f"{type(error).__name__}: {error}")

    def _write(self, event: Event) -> None:
        match event:
            case Began():
                self._tracker.begin(event)
            case Reported():
                self._tracker.report(event)
            case Ended():
                self._tracker.end(event)

    def _warn(self, event: Event, why: str) -> None:
        """Say once of each attempt that it is not all there."""
        lease = event.lease
        if self._warned_of is not lease:
            self._warned_of = lease
            log.warning(
                "trial %d of %s, attempt %d: %s does not have all of it. %s",
                lease.trial,
                lease.study,
                lease.attempt,
                self._kind,
                why,
            )


def _ended(lease: Lease, ending: Ending | GivenBack | None) -> Ended:
    match ending:
        case Value(value=value):
            return Ended(lease, "succeeded", value)
        case Pruned(value=last):
            return Ended(lease, "pruned", last)
        case Diverged(diverged=how):
            return Ended(lease, "diverged", message=how)
        case Failure(kind=kind, message=message):
            return Ended(lease, "failed", message=f"{kind}: {message}")
        case GivenBack():
            return Ended(lease, "released")
        case _:
            return Ended(lease, "lost")
