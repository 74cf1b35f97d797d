"""One attempt: train a leased trial in a slot, follow the server's orders, deliver what came of it."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, takewhile
from typing import Final

from thiessen.client import Client
from thiessen.contract import Failure, Lease, Point, Pruned, Value
from thiessen.contract.words import Verdict
from thiessen.errors import LeaseLost, Refused, ServerFailed, TooManyRequests
from worker import failpoint
from worker.child import Ending, Order
from worker.patience import LATER, LONGEST_PAUSE, Patience
from worker.slot import Slot
from worker.spool import FOR_GOOD, Result, Spool

LISTEN_SECONDS: Final = 0.5  # the longest a stop or a heartbeat waits for the child
REPORT_SECONDS: Final = 1.0  # points wait at most so long, so that curves are live
PRUNE_SECONDS: Final = 10.0  # how long a task that is pruned may take to end
MOST_POINTS: Final = 1000  # of one heartbeat
MOST_BYTES: Final = 500_000  # of one heartbeat, a quarter of what a server takes
MOST_WAITING: Final = 20_000  # points in memory; of more, every second one is kept

log = logging.getLogger("thiessen.worker")


class Attempt:
    """What is under way in a slot."""

    def __init__(
        self,
        *,
        client: Client,
        slot: Slot,
        spool: Spool,
        lease: Lease,
        patience: Patience,
        draining: threading.Event,
    ) -> None:
        self._client = client
        self._slot = slot
        self._spool = spool
        self._lease = lease
        self._patience = patience
        self._draining = draining
        self._name = f"trial {lease.trial} of {lease.study}, attempt {lease.attempt}"
        self._beat_seconds = lease.lease_seconds / 3
        self._longest_pause = min(LONGEST_PAUSE, self._beat_seconds)
        self._points: list[Point] = []
        self._log_tail = ""  # as it was last sent
        self._heard_at = self._beaten_at = time.monotonic()
        self._prune_by: float | None = None

    def run(self) -> None:
        """Train and deliver the result. Raises Stopped, or what the server did for too long."""
        log.info("%s: begins on %s", self._name, self._slot.device)
        begun = time.monotonic()
        lease = self._lease
        try:
            self._slot.begin(Order(task=lease.task, config=lease.config, seed=lease.seed))
            ending = self._train()
            if ending is None:
                self._slot.stop()
                self._insist(partial(self._client.release, lease.lease_id))
                log.info("%s: given back", self._name)
                return
            self._deliver(ending)
        except Refused as refusal:  # another attempt has the trial: an expected race, not an alarm
            self._slot.stop()
            log.warning("%s: dropped. %s", self._name, refusal)
            return
        log.info("%s: %s in %.1f s", self._name, _summary(ending), time.monotonic() - begun)

    def _train(self) -> Ending | None:
        """Follow the training to its end; None when the trial is to be given back. Raises LeaseLost."""
        while not self._patience.stop.is_set():
            for message in self._slot.messages(min(LISTEN_SECONDS, self._beat_seconds)):
                if not isinstance(message, Point):
                    return message
                self._points.append(message)
            match self._orders():
                case "stop":
                    return None
                case "prune" if self._prune_by is None:
                    self._slot.prune()
                    self._prune_by = time.monotonic() + PRUNE_SECONDS
                case "drain":
                    self._drain()
            if self._prune_by is not None and time.monotonic() > self._prune_by:
                self._slot.stop()
                return Pruned(pruned=True)
            self._thin()
        return None

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
            log.warning("training goes on without the server: %s", error)
            return "continue"
        self._heard_at = time.monotonic()
        return verdict

    def _beat(self) -> Verdict:
        """Send a heartbeat with the oldest points. Raises LeaseLost, ServerUnreachable, ServerFailed."""
        size = _batch(self._points)
        printed = self._slot.printed()
        log_tail = None if printed == self._log_tail else printed
        verdict: Verdict = "continue"
        try:
            verdict = self._client.heartbeat(self._lease.lease_id, self._points[:size], log_tail).verdict
        except (LeaseLost, TooManyRequests):
            raise
        except Refused as refusal:
            log.warning("%s: %d points of the curve are left out: %s", self._name, size, refusal)
        del self._points[:size]
        self._log_tail = printed
        return verdict

    def _drain(self) -> None:
        if not self._draining.is_set():
            log.info("The server drains this worker: it finishes what it trains, and leases no more.")
            self._draining.set()

    def _thin(self) -> None:
        if len(self._points) > MOST_WAITING:
            self._points = self._points[::2]
            log.warning(
                "%s: more than %d points wait for the server: every second one is left out",
                self._name,
                MOST_WAITING,
            )

    def _deliver(self, ending: Ending) -> None:
        """Write the result down, send what remains of curve and log, tell the result.

        Raises Stopped, Refused.
        """
        result = Result(
            server=self._client.url, lease_id=self._lease.lease_id, name=self._name, ending=ending
        )
        try:
            self._spool.keep(result)
        except OSError as error:
            log.warning("%s: its result is only in memory until the server has it: %s", self._name, error)
        failpoint.reached("spooled")
        self._send_curve()
        try:
            self._insist(partial(self._spool.deliver, self._client, result))
        except FOR_GOOD:
            raise
        except Refused as refusal:
            log.warning("%s: its result stays on this disk: %s", self._name, refusal)

    def _send_curve(self) -> None:
        """Send the points that wait and what was printed last. Refused or not, the result follows."""
        try:
            while self._points or self._slot.printed() != self._log_tail:
                self._insist(self._beat, even_if_it_fails=False)
        except (ServerFailed, LeaseLost) as error:
            log.warning("%s: %d points of the curve are left out: %s", self._name, len(self._points), error)

    def _insist(self, call: Callable[[], object], *, even_if_it_fails: bool = True) -> None:
        self._patience.until_answered(
            call, longest_pause=self._longest_pause, even_if_it_fails=even_if_it_fails
        )


def _batch(points: Sequence[Point]) -> int:
    """Return how many points one heartbeat takes, at least one where there is one."""
    sizes = accumulate(len(point.model_dump_json()) for point in points[:MOST_POINTS])
    return max(sum(1 for _ in takewhile(lambda size: size <= MOST_BYTES, sizes)), min(len(points), 1))


def _summary(ending: Ending) -> str:
    match ending:
        case Value(value=value):
            return f"value {value:.6g}"
        case Failure(message=message):
            return f"failed, {message}"
        case Pruned():
            return "pruned"
        case _:
            return "diverged"
