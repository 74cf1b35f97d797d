"""The daemon: for each slot lease, train, report, until asked to stop."""

import logging
import math
import platform
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, count, takewhile
from secrets import token_hex
from typing import Final, TypeVar

import torch

from thiessen.client import Client
from thiessen.contract import Diverged, Failure, Lease, LeaseRequest, Loss, Point
from thiessen.errors import LeaseLost, Refused, ServerFailed, ServerUnreachable, TooManyRequests
from thiessen.version import __version__
from worker.child import Broke, Order, Trained
from worker.slot import Slot

LISTEN_SECONDS: Final = 0.5  # the longest a stop or a heartbeat waits for the child
ANSWER_SECONDS: Final = 5.0  # the longest they wait for the server; calls are repeated until answered
REPORT_SECONDS: Final = 1.0  # points wait at most so long, so that curves are live
IDLE_SECONDS: Final = 1.0
OFFLINE_SECONDS: Final = 3600.0  # how long a result waits for a server that is away
MOST_POINTS: Final = 1000  # of one heartbeat
MOST_BYTES: Final = 500_000  # of one heartbeat, a quarter of what a server takes
MOST_WAITING: Final = 20_000  # points in memory; of more, every second one is kept
MOST_TEXT: Final = 10_000
LATER: Final = (ServerUnreachable, ServerFailed, TooManyRequests)  # the same call may succeed later

T = TypeVar("T")

log = logging.getLogger("thiessen.worker")


class Stopped(Exception):  # noqa: N818 - says what happened
    """The worker was told to stop before the server answered."""


@dataclass(frozen=True, kw_only=True)
class Worker:
    """Who works, for whom, and what it can train."""

    name: str
    client: Client
    tasks: Sequence[str]
    studies: Sequence[str] | None
    idle_exit_seconds: float | None
    threads: int
    incarnation: str = field(default_factory=lambda: token_hex(8))

    def environment(self) -> dict[str, str]:
        """Return what a result may depend on besides config and seed."""
        return {
            "thiessen": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "platform": platform.platform()[:200],
            "threads": str(self.threads),
        }


def run(worker: Worker, slots: Sequence[Slot], stop: threading.Event) -> None:
    """Work on every slot until `stop` is set or there has been nothing to do for long enough."""
    faults: list[BaseException] = []

    def guarded(number: int, slot: Slot) -> None:
        try:
            _work(worker, number, slot, stop)
        except Stopped:
            log.info("stopped while the server did not answer")
        except BaseException as fault:  # noqa: BLE001 - handed to the main thread
            faults.append(fault)
            stop.set()
        finally:
            slot.stop()

    threads = [
        threading.Thread(target=guarded, args=pair, name=f"slot-{pair[0]}") for pair in enumerate(slots)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def _work(worker: Worker, number: int, slot: Slot, stop: threading.Event) -> None:
    idle_since = time.monotonic()
    for wish in count():
        if stop.is_set():
            return
        # Asked again with the same id until an answer comes: the same lease, however many answers were lost.
        ask = partial(worker.client.lease, _request(worker, slot, f"slot-{number}-{wish}"))
        try:
            lease = _patiently(ask, stop)
        except LeaseLost as lost:  # the answers were lost for longer than the lease
            log.warning("%s", lost)
            continue
        if lease is not None:
            _run_attempt(worker.client, slot, lease, stop)
            idle_since = time.monotonic()
        elif _has_idled(worker, idle_since):
            log.info("nothing to train on %s for %g s", slot.device, worker.idle_exit_seconds)
            return
        else:
            stop.wait(IDLE_SECONDS * random.uniform(0.8, 1.2))


def _has_idled(worker: Worker, since: float) -> bool:
    return worker.idle_exit_seconds is not None and time.monotonic() - since > worker.idle_exit_seconds


def _request(worker: Worker, slot: Slot, request_id: str) -> LeaseRequest:
    return LeaseRequest(
        worker=worker.name,
        incarnation=worker.incarnation,
        request_id=request_id,
        tasks=list(worker.tasks),
        studies=None if worker.studies is None else list(worker.studies),
        device=slot.device,
        environment=worker.environment(),
    )


def _run_attempt(client: Client, slot: Slot, lease: Lease, stop: threading.Event) -> None:
    """Train one attempt and deliver what came of it. Raises Stopped."""
    name = f"trial {lease.trial} of {lease.study}, attempt {lease.attempt}"
    log.info("%s: begins on %s", name, slot.device)
    begun = time.monotonic()
    try:
        slot.begin(Order(task=lease.task, config=lease.config, seed=lease.seed))
        ending, points = _train(client, slot, lease, stop)
        if ending is None:
            slot.stop()
            _patiently(partial(client.release, lease.lease_id), stop)
            log.info("%s: given back", name)
            return
        _send_all(client, lease, points, stop)
        _patiently(partial(_tell, client, lease, ending), stop)
    except Refused as refusal:  # another attempt has the trial: an expected race, not an alarm
        slot.stop()
        log.warning("%s: dropped. %s", name, refusal)
        return
    log.info("%s: %s in %.1f s", name, _summary(ending), time.monotonic() - begun)


def _train(
    client: Client, slot: Slot, lease: Lease, stop: threading.Event
) -> tuple[Trained | Broke | None, list[Point]]:
    """Follow an attempt to its end with heartbeats; return the end, None when stopped, and the points unsent.

    Raises LeaseLost.
    """
    points: list[Point] = []
    beat_seconds = lease.lease_seconds / 3
    last_beat = time.monotonic()
    while not stop.is_set():
        for message in slot.messages(LISTEN_SECONDS):
            if not isinstance(message, Point):
                return message, points
            points.append(message)
        silent = time.monotonic() - last_beat
        if silent > beat_seconds or (points and silent > REPORT_SECONDS):
            try:
                points = _beat(client, lease, points)
            except LATER as error:
                log.warning("training goes on without the server: %s", error)
            last_beat = time.monotonic()
        if len(points) > MOST_WAITING:
            points = points[::2]
            log.warning("more than %d points wait for the server: every second one is left out", MOST_WAITING)
    return None, points


def _send_all(client: Client, lease: Lease, points: list[Point], stop: threading.Event) -> None:
    """Send what remains of the learning curve; a server that fails on it does not hold up the result."""
    while points:
        try:
            points = _patiently(partial(_beat, client, lease, points), stop, even_if_it_fails=False)
        except ServerFailed as error:
            log.warning("%d points of the curve are left out: %s", len(points), error)
            return


def _beat(client: Client, lease: Lease, points: list[Point]) -> list[Point]:
    """Send a heartbeat with the oldest points; return those still to send. Raises LeaseLost."""
    size = _batch(points)
    try:
        client.heartbeat(lease.lease_id, points[:size])
    except (LeaseLost, TooManyRequests):
        raise
    except Refused as refusal:
        log.warning("%d points of the curve are left out: %s", size, refusal)
    return points[size:]


def _batch(points: Sequence[Point]) -> int:
    """Return how many points one heartbeat takes, at least one where there is one."""
    sizes = accumulate(len(point.model_dump_json()) for point in points[:MOST_POINTS])
    return max(sum(1 for _ in takewhile(lambda size: size <= MOST_BYTES, sizes)), min(len(points), 1))


def _tell(client: Client, lease: Lease, ending: Trained | Broke) -> None:
    if isinstance(ending, Broke):
        failure = Failure(
            kind=ending.kind,
            message=ending.message[:MOST_TEXT],
            traceback=ending.traceback[-MOST_TEXT:],
        )
        client.fail(lease.lease_id, failure)
    elif ending.diverged:
        client.complete(lease.lease_id, Diverged(diverged="too large"))
    elif math.isfinite(ending.loss):
        client.complete(lease.lease_id, Loss(loss=ending.loss))
    else:
        client.complete(lease.lease_id, Diverged.model_validate({"diverged": str(ending.loss)}))


def _patiently(call: Callable[[], T], stop: threading.Event, *, even_if_it_fails: bool = True) -> T:
    """Call until the server answers, for an hour at most. Raises Stopped, Refused, or what lasted an hour."""
    deadline = time.monotonic() + OFFLINE_SECONDS
    pause = IDLE_SECONDS
    while True:
        try:
            return call()
        except LATER as error:
            if isinstance(error, ServerFailed) and not even_if_it_fails:
                raise
            if stop.is_set():
                raise Stopped from error
            if time.monotonic() > deadline:
                raise
            log.warning("trying again in %.0f s: %s", pause, error)
        stop.wait(pause * random.uniform(0.8, 1.2))
        pause = min(pause * 2, 30)


def _summary(ending: Trained | Broke) -> str:
    if isinstance(ending, Broke):
        return f"failed, {ending.message}"
    return "diverged" if ending.diverged else f"loss {ending.loss:.6g}"
