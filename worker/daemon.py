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
from itertools import count
from secrets import token_hex
from typing import Final, TypeVar

import torch

from thiessen.client import Client
from thiessen.contract import Diverged, Failure, Lease, LeaseRequest, Loss, Point
from thiessen.errors import LeaseLost, Refused, ServerFailed, ServerUnreachable
from thiessen.version import __version__
from worker.child import Broke, Order, Reported, Trained
from worker.slot import Slot

LISTEN_SECONDS: Final = 0.5  # the longest a stop or a heartbeat waits for the child
REPORT_SECONDS: Final = 1.0  # points wait at most so long, so that curves are live
IDLE_SECONDS: Final = 1.0
OFFLINE_SECONDS: Final = 3600.0  # how long a result waits for a server that is away
MOST_POINTS: Final = 1000  # of one heartbeat
MOST_TEXT: Final = 10_000

T = TypeVar("T")

log = logging.getLogger("thiessen.worker")

_NON_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


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

    def guarded(slot: Slot) -> None:
        try:
            _work(worker, slot, stop)
        except BaseException as fault:  # noqa: BLE001 - handed to the main thread
            faults.append(fault)
            stop.set()
        finally:
            slot.stop()

    threads = [threading.Thread(target=guarded, args=(slot,), name=slot.device) for slot in slots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def _work(worker: Worker, slot: Slot, stop: threading.Event) -> None:
    idle_since = time.monotonic()
    for number in count():
        if stop.is_set():
            return
        # Asked again with the same id until an answer comes: the same lease, however many answers were lost.
        ask = partial(
            worker.client.lease, _request(worker, slot, f"{slot.device.replace(':', '-')}-{number}")
        )
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
    """Train one attempt and deliver what came of it."""
    name = f"trial {lease.trial} of {lease.study}, attempt {lease.attempt}"
    log.info("%s: begins on %s", name, slot.device)
    begun = time.monotonic()
    try:
        slot.begin(Order(task=lease.task, config=lease.config, seed=lease.seed))
        ending = _train(client, slot, lease, stop)
        if ending is None:
            slot.stop()
            _patiently(lambda: client.release(lease.lease_id), stop)
            log.info("%s: given back", name)
            return
        _patiently(lambda: _tell(client, lease, ending), stop)
    except Refused as refusal:  # another attempt has the trial: an expected race, not an alarm
        slot.stop()
        log.warning("%s: dropped. %s", name, refusal)
        return
    log.info("%s: %s in %.1f s", name, _summary(ending), time.monotonic() - begun)


def _train(client: Client, slot: Slot, lease: Lease, stop: threading.Event) -> Trained | Broke | None:
    """Follow an attempt to its end with heartbeats; None when it was stopped. Raises Refused when lost."""
    points: list[Point] = []
    beat_seconds = lease.lease_seconds / 3
    last_beat = time.monotonic()
    while not stop.is_set():
        ending: Trained | Broke | None = None
        for message in slot.messages(LISTEN_SECONDS):
            if isinstance(message, Reported):
                points.append(_point(message))
            else:
                ending = ending or message
        silent = time.monotonic() - last_beat
        if silent > beat_seconds or (points and (ending or silent > REPORT_SECONDS)):
            points = _beat(client, lease, points)
            last_beat = time.monotonic()
        if ending is not None:
            while points and not stop.is_set():
                stop.wait(IDLE_SECONDS)
                points = _beat(client, lease, points)
            return ending
    return None


def _beat(client: Client, lease: Lease, points: list[Point]) -> list[Point]:
    """Send a heartbeat with the oldest points; return those still to send. Raises Refused."""
    try:
        client.heartbeat(lease.lease_id, points[:MOST_POINTS])
    except (ServerUnreachable, ServerFailed) as error:
        log.warning("the server is away, training goes on: %s", error)
        return points
    return points[MOST_POINTS:]


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


def _patiently(call: Callable[[], T], stop: threading.Event) -> T | None:
    """Call until the server answers, for an hour at most; None when stopped meanwhile. Raises Refused."""
    deadline = time.monotonic() + OFFLINE_SECONDS
    pause = IDLE_SECONDS
    while True:
        try:
            return call()
        except (ServerUnreachable, ServerFailed) as error:
            if stop.is_set():
                return None
            if time.monotonic() > deadline:
                raise
            log.warning("the server is away, trying again in %.0f s: %s", pause, error)
        stop.wait(pause * random.uniform(0.8, 1.2))
        pause = min(pause * 2, 30)


def _point(reported: Reported) -> Point:
    metrics = {name: _NON_FINITE.get(str(value), value) for name, value in reported.metrics.items()}
    return Point.model_validate({"step": reported.step, "metrics": metrics})


def _summary(ending: Trained | Broke) -> str:
    if isinstance(ending, Broke):
        return f"failed, {ending.message}"
    return "diverged" if ending.diverged else f"loss {ending.loss:.6g}"
