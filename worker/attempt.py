"""One attempt: train a leased trial in a slot, follow the server's orders, deliver what came of it."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from thiessen.client import Client
from thiessen.contract import Failure, Lease, Point, Pruned, Value
from thiessen.contract.words import Verdict
from thiessen.errors import LeaseLost, Refused, TooManyRequests
from thiessen.patience import LATER, LONGEST_PAUSE, Patience
from worker import checkpoint, failpoint
from worker.child import Ending, GivenBack, KeepsCheckpoints, Length, Order, Taken
from worker.functions import Offer
from worker.limits import Limits, Watch
from worker.slot import Slot
from worker.spool import FOR_GOOD, Result, Spool, tell_points
from worker.standing import Standing
from worker.tracking import Tracked, Tracking

LISTEN_SECONDS: Final = 0.5  # the longest a stop or a heartbeat waits for the child
REPORT_SECONDS: Final = 1.0  # points wait at most so long, so that curves are live
PRUNE_SECONDS: Final = 10.0  # how long a task that is pruned may take to end
MOST_WAITING: Final = 20_000  # points in memory; of more, every second one is kept

log = logging.getLogger("thiessen.worker")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What holds for every attempt of a worker."""

    limits: Limits
    checkpoints: Path
    checkpoint_seconds: float
    grace_seconds: float  # how long a task that keeps checkpoints may take to the next one, told to leave


class Attempt:
    """What is under way in a slot."""

    def __init__(
        self,
        *,
        client: Client,
        slot: Slot,
        spool: Spool,
        lease: Lease,
        offer: Offer,
        patience: Patience,
        draining: threading.Event,
        terms: Terms,
        standing: Standing,
        tracking: Tracking,
    ) -> None:
        self._client = client
        self._slot = slot
        self._spool = spool
        self._lease = lease
        self._offer = offer
        self._patience = patience
        self._draining = draining
        self._terms = terms
        self._standing = standing
        self._tracking = tracking
        self._name = f"trial {lease.trial} of {lease.study}, attempt {lease.attempt}"
        self._about = {"study": lease.study, "trial": lease.trial, "attempt": lease.attempt}
        self._key = _key(client.url, lease, offer.task.version)
        self._beat_seconds = lease.lease_seconds / 3
        self._longest_pause = min(LONGEST_PAUSE, self._beat_seconds)
        self._points: list[Point] = []
        self._is_spooled = 0  # of the points
        self._log_tail = ""  # as it was last sent
        self._heard_at = self._beaten_at = time.monotonic()
        self._watch = Watch(slot=slot, limits=terms.limits)
        self._keeps_checkpoints = False
        self._prune_by: float | None = None
        self._leave_by: float | None = None

    def run(self) -> None:
        """Train and deliver the result. Raises Stopped, or what the server did for too long."""
        self._standing.begin(study=self._lease.study, trial=self._lease.trial, attempt=self._lease.attempt)
        tracked = self._tracking.begin(self._lease)
        begun = time.monotonic()
        try:
            self._slot.begin(self._order())
            self._say(logging.INFO, "begins on %s", self._slot.device)
            ending = self._train(tracked)
            tracked.end(ending)
            if isinstance(ending, GivenBack):
                self._give_back()
                return
            self._deliver(ending)
        except Refused as refusal:  # another attempt has the trial: an expected race, not an alarm
            self._slot.stop()
            self._spool.drop(self._lease.lease_id)
            self._say(logging.WARNING, "dropped. %s", refusal)
            return
        finally:
            self._standing.end()
            tracked.end(None)
        self._say(logging.INFO, "%s in %.1f s", _summary(ending), time.monotonic() - begun)

    def _order(self) -> Order:
        lease = self._lease
        return Order(
            task=self._offer.reference,
            config=lease.config,
            seed=lease.seed,
            attempt=lease.attempt,
            folder=self._terms.checkpoints,
            key=self._key,
            checkpoint_seconds=self._terms.checkpoint_seconds,
            about=self._about,
        )

    def _train(self, tracked: Tracked) -> Ending | GivenBack:
        """Follow the training to its end. Raises LeaseLost, or what the server did for too long."""
        while True:
            ending = self._listen(tracked)
            if ending is not None:
                return ending
            verdict = self._orders()
            if verdict == "drain":
                self._drain()
            ending = self._pruned(verdict) or self._left(verdict) or self._fault()
            if ending is not None:
                return ending
            self._thin()

    def _listen(self, tracked: Tracked) -> Ending | GivenBack | None:
        """Take what the child says; return what it ended with, if it has."""
        for message in self._slot.messages(min(LISTEN_SECONDS, self._beat_seconds, self._watch.seconds)):
            self._watch.heard()
            match message:
                case Taken():
                    pass
                case Point():
                    self._points.append(message)
                    self._standing.reached(message)
                    tracked.reached(message)
                case Length(steps=steps):
                    self._standing.steps = steps
                case KeepsCheckpoints():
                    self._keeps_checkpoints = True
                case _:
                    return message
        return None

    def _pruned(self, verdict: Verdict) -> Ending | None:
        """Tell the child to end as pruned; end it when it goes on for long."""
        if verdict == "prune" and self._prune_by is None:
            self._slot.prune()
            self._prune_by = time.monotonic() + PRUNE_SECONDS
        if self._prune_by is None or time.monotonic() < self._prune_by:
            return None
        self._slot.stop()
        return Pruned(pruned=True)

    def _left(self, verdict: Verdict) -> GivenBack | None:
        """Tell the child to leave at its next checkpoint; end it when it keeps none, or takes long."""
        if verdict != "stop" and not self._patience.stop.is_set() and self._leave_by is None:
            return None
        if self._leave_by is None:
            self._slot.leave()
            grace = self._terms.grace_seconds if self._keeps_checkpoints else 0.0
            self._leave_by = time.monotonic() + grace
        if time.monotonic() < self._leave_by:
            return None
        self._slot.stop()
        return GivenBack()

    def _fault(self) -> Failure | None:
        fault = self._watch.fault()
        if fault is not None:
            self._say(logging.WARNING, "ended: %s", fault.message)
        return fault

    def _give_back(self) -> None:
        """Send what is left of the curve and release the trial. Raises Stopped, Refused."""
        self._insist(partial(self._spool.deliver, self._client, self._rest()))
        self._insist(partial(self._client.release, self._lease.lease_id))
        self._say(logging.INFO, "given back")

    def _orders(self) -> Verdict:
        """Send a heartbeat when one is due and return the server's orders. Raises LeaseLost."""
        silent = time.monotonic() - self._beaten_at
        if silent <= self._beat_seconds and not (self._points and silent > REPORT_SECONDS):
            return "continue"
        self._beaten_at = time.monotonic()
        try:
            verdict = self._beat()
        except LATER as error:
            if not self._patience.bears(self._heard_at):
                raise
            self._say(logging.WARNING, "training goes on without the server: %s", error)
            self._spool_curve()
            return "continue"
        self._heard_at = time.monotonic()
        return verdict

    def _beat(self) -> Verdict:
        """Send a heartbeat with the oldest points. Raises LeaseLost, ServerUnreachable, ServerFailed."""
        printed = self._slot.printed()
        log_tail = None if printed == self._log_tail else printed
        verdict: Verdict = "continue"
        try:
            size, answer = tell_points(self._client, self._lease.lease_id, self._points, log_tail)
            verdict = answer.verdict
        except (LeaseLost, TooManyRequests):
            raise
        except Refused as refusal:
            size = len(self._points)
            self._say(logging.WARNING, "%d points of the curve are left out: %s", size, refusal)
        del self._points[:size]
        if self._is_spooled and not self._points:
            self._spool.drop(self._lease.lease_id)
        self._is_spooled = max(self._is_spooled - size, 0)
        self._log_tail = printed
        return verdict

    def _spool_curve(self) -> None:
        """Write down the points that wait: this process may be killed before the server is back."""
        new = self._points[self._is_spooled :]
        if not new:
            return
        try:
            self._spool.keep(self._result(points=new))
            self._is_spooled = len(self._points)
        except OSError as error:
            self._say(logging.WARNING, "its curve is only in memory until the server has it: %s", error)

    def _drain(self) -> None:
        if not self._draining.is_set():
            log.info("The server drains this worker: it finishes what it trains, and leases no more.")
            self._draining.set()

    def _thin(self) -> None:
        if len(self._points) > MOST_WAITING:
            self._is_spooled = len(self._points[: self._is_spooled : 2])
            self._points = self._points[::2]
            self._say(
                logging.WARNING,
                "more than %d points wait for the server: every second one is left out",
                MOST_WAITING,
            )

    def _deliver(self, ending: Ending) -> None:
        """Write the result down, with what remains of curve and log, and tell it. Raises Stopped, Refused."""
        result = self._rest(ending)
        try:
            self._spool.keep(result)
        except OSError as error:
            self._say(
                logging.ERROR,
                "its result cannot be kept in %s (%s): it is only in memory until the server has it",
                self._spool.folder,
                error.strerror or error,
            )
        failpoint.reached("spooled")
        if isinstance(ending, Failure) and not self._patience.stop.is_set():
            self._slot.renew()
        try:
            self._insist(partial(self._spool.deliver, self._client, result))
        except FOR_GOOD:
            raise
        except Refused as refusal:
            self._say(logging.WARNING, "its result stays on this disk: %s", refusal)
        if not isinstance(ending, Failure):
            self._forget_checkpoints()

    def _rest(self, ending: Ending | None = None) -> Result:
        """Return what the server does not know yet."""
        printed = self._slot.printed()
        return self._result(
            points=self._points, log_tail=None if printed == self._log_tail else printed, ending=ending
        )

    def _result(self, **known: object) -> Result:
        return Result.model_validate(
            {"server": self._client.url, "lease_id": self._lease.lease_id, "name": self._name, **known}
        )

    def _forget_checkpoints(self) -> None:
        if self._keeps_checkpoints:
            try:
                checkpoint.remove(self._terms.checkpoints, self._key)
            except OSError as error:
                self._say(logging.WARNING, "its checkpoints are not removed: %s", error)

    def _insist(self, call: Callable[[], object]) -> None:
        self._patience.until_answered(call, longest_pause=self._longest_pause)

    def _say(self, level: int, message: str, *about: object) -> None:
        log.log(level, "%s: " + message, self._name, *about, extra=self._about)  # noqa: G003 - ours alone


def _key(server: str, lease: Lease, version: str | None) -> str:
    return checkpoint.key(
        server=server,
        project=lease.project,
        study=lease.study,
        trial=lease.trial,
        task=lease.task,
        version=version,
        config=lease.config,
        seed=lease.seed,
    )


def _summary(ending: Ending) -> str:
    match ending:
        case Value(value=value):
            return f"value {value:.6g}"
        case Failure(kind=kind, message=message):
            return f"failed ({kind}), {message}"
        case Pruned():
            return "pruned"
        case _:
            return "diverged"
