"""The daemon: for each slot lease, train, report, until asked to stop."""

import logging
import random
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from queue import Empty, SimpleQueue
from secrets import token_hex
from typing import Final

from thiessen.client import Client
from thiessen.contract import Lease, LeaseRequest, WorkerAnswer, WorkerSpec
from thiessen.errors import LeaseLost, Refused, ServerFailed, ServerUnreachable, WorkerUnknown
from thiessen.patience import Patience, Stopped
from worker import devices, environment
from worker.attempt import LISTEN_SECONDS, Attempt, Terms
from worker.functions import Offer
from worker.offer import offered
from worker.slot import Slot
from worker.spool import Result, Spool
from worker.standing import Standing
from worker.tasks import Task
from worker.tracking import Tracking

ANSWER_SECONDS: Final = 5.0  # the longest a call waits for the server; calls are repeated until answered
WAIT_SECONDS: Final = 20.0  # how long the server may hold a request for a trial until there is one
IDLE_SECONDS: Final = 1.0  # between two requests that are answered at once, without a trial
FULL_SECONDS: Final = 2.0  # between two looks at a disk that takes nothing more

log = logging.getLogger("thiessen.worker")


class Tickets:
    """How many more trials may be leased, by all slots together."""

    def __init__(self, trials: int | None) -> None:
        self._left = trials
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Return whether there was one left."""
        with self._lock:
            if self._left is None:
                return True
            if self._left == 0:
                return False
            self._left -= 1
            return True

    def give_back(self) -> None:
        """Put back one that was of no use."""
        with self._lock:
            if self._left is not None:
                self._left += 1


@dataclass(frozen=True, kw_only=True)
class Worker:
    """Who works, for whom, what it has and can train."""

    name: str
    client: Client
    slots: Sequence[Slot]
    offers: Mapping[str, Offer]  # by the task's name
    labels: dict[str, str]
    studies: list[str] | None
    spool: Spool
    patience: Patience
    terms: Terms
    idle_exit_seconds: float | None
    threads: int
    tracking: Tracking = field(default_factory=Tracking)
    tickets: Tickets = field(default_factory=lambda: Tickets(None))
    incarnation: str = field(default_factory=lambda: token_hex(8))
    draining: threading.Event = field(default_factory=threading.Event)

    @property
    def is_done(self) -> bool:
        """Whether no more trials are to be leased."""
        return self.patience.stop.is_set() or self.draining.is_set()

    @cached_property
    def standings(self) -> list[Standing]:
        """What each slot does now."""
        return [Standing(f"{number} {slot.device}") for number, slot in enumerate(self.slots)]

    @property
    def tasks(self) -> list[Task]:
        """What it can train."""
        return [offer.task for offer in self.offers.values()]

    def register(self) -> WorkerAnswer:
        """Say what this worker has and can train."""
        return self.client.register(self.name, self._spec(self.incarnation))

    def sign_off(self) -> None:
        """Say that this start of the worker is over: the server gives it no more trials."""
        self.client.register(self.name, self._spec(token_hex(8)))

    def request(self, slot: Slot, request_id: str, wait_seconds: float) -> LeaseRequest:
        """Return the wish of a slot for a trial of any task that is registered."""
        return LeaseRequest(
            worker=self.name,
            incarnation=self.incarnation,
            request_id=request_id,
            studies=self.studies,
            wait_seconds=wait_seconds,
            slot=devices.described(slot.device),
            environment=self._environments[slot.device],
        )

    def _spec(self, incarnation: str) -> WorkerSpec:
        return WorkerSpec(
            incarnation=incarnation,
            slots=[devices.described(slot.device) for slot in self.slots],
            labels=self.labels,
            tasks=[offered(task) for task in self.tasks],
        )

    @cached_property
    def _environments(self) -> dict[str, dict[str, str]]:
        """What a result may depend on besides config and seed, on each device."""
        sources = environment.sources(self.tasks)
        return {
            slot.device: environment.environment(slot.device, self.threads, sources) for slot in self.slots
        }


def run(worker: Worker) -> None:
    """Work on every slot until stopped, drained, or there has been nothing to do for long enough.

    Results that an earlier process left are told meanwhile.
    """
    faults: list[BaseException] = []
    left = worker.spool.left(worker.client.url)  # before a slot adds its own
    with suppress(Stopped):
        worker.patience.until_answered(worker.register)

    def guarded(number: int, slot: Slot) -> None:
        try:
            _work(worker, number, slot)
        except Stopped:
            log.info("stopped while the server did not answer")
        except BaseException as fault:  # noqa: BLE001 - handed to the main thread
            faults.append(fault)
            worker.patience.stop.set()
        finally:
            slot.stop()

    threads = [
        threading.Thread(target=guarded, args=pair, name=f"slot-{pair[0]}")
        for pair in enumerate(worker.slots)
    ]
    postman = threading.Thread(target=_deliver, args=(worker, left), name="postman")
    for thread in (postman, *threads):
        thread.start()
    for thread in threads:
        _join(thread)
    worker.patience.stop.set()  # the postman tries each of what is left, and hopes for no answer any more
    _join(postman)
    worker.spool.close()
    if faults:
        raise faults[0]


def _join(thread: threading.Thread) -> None:
    """Wait for the end of a thread, and see each signal: a wait without end may begin just after one."""
    while thread.is_alive():
        thread.join(LISTEN_SECONDS)


def _work(worker: Worker, number: int, slot: Slot) -> None:
    slot.renew()  # before it leases: the first process may take longer to start than a lease lasts
    idle_since = time.monotonic()
    for wish in count():
        _wait_for_room(worker)
        if worker.is_done or not worker.tickets.take():
            return
        asked_at = time.monotonic()
        request = worker.request(slot, f"slot-{number}-{wish}", _wait(worker, idle_since))
        leases = _lease(worker, request)
        for lease in leases:
            _attempt(worker, number, lease).run()
            idle_since = time.monotonic()
        if leases or worker.is_done:
            continue
        worker.tickets.give_back()
        if _has_idled(worker, idle_since):
            log.info("nothing to train on %s for %g s", slot.device, worker.idle_exit_seconds)
            return
        if worker.patience.until_answered(worker.register).is_draining:
            log.info("The server drains this worker: %s stops.", slot.device)
            worker.draining.set()
        elif time.monotonic() - asked_at < request.wait_seconds:  # the server is about to stop
            worker.patience.stop.wait(IDLE_SECONDS * random.uniform(0.8, 1.2))


def _wait_for_room(worker: Worker) -> None:
    """Wait until results can be kept, or the worker stops."""
    if worker.spool.keeps():
        return
    log.error("Nothing is leased until %s takes results again. Make room there.", worker.spool.folder)
    while not worker.spool.keeps():
        if worker.patience.stop.wait(FULL_SECONDS):
            return
    log.info("%s takes results again.", worker.spool.folder)


def _attempt(worker: Worker, number: int, lease: Lease) -> Attempt:
    return Attempt(
        client=worker.client,
        slot=worker.slots[number],
        spool=worker.spool,
        lease=lease,
        offer=worker.offers[lease.task],
        patience=worker.patience,
        draining=worker.draining,
        terms=worker.terms,
        standing=worker.standings[number],
        tracking=worker.tracking,
    )


def _wait(worker: Worker, idle_since: float) -> float:
    """Return how long the server may wait for a trial: not beyond the moment when the slot has idled long."""
    if worker.idle_exit_seconds is None:
        return WAIT_SECONDS
    left = worker.idle_exit_seconds - (time.monotonic() - idle_since)
    return min(max(left, 0.0), WAIT_SECONDS)


def _has_idled(worker: Worker, since: float) -> bool:
    return worker.idle_exit_seconds is not None and time.monotonic() - since > worker.idle_exit_seconds


def _lease(worker: Worker, request: LeaseRequest) -> list[Lease]:
    """Ask until there is an answer: with the same id, so the same lease, however many answers were lost."""
    try:
        return worker.patience.until_answered(partial(_ask, worker, request))
    except LeaseLost as lost:  # the answers were lost for longer than the lease
        log.warning("%s", lost)
    except WorkerUnknown as unknown:  # it registers again, as after each answer without a trial
        log.warning("%s", unknown)
    return []


def _ask(worker: Worker, request: LeaseRequest) -> list[Lease]:
    """Ask for what there is now; when that is nothing, for what there will be."""
    now = worker.client.lease(request.model_copy(update={"wait_seconds": 0.0}))
    return now if now or not request.wait_seconds else _ask_and_wait(worker, request)


def _ask_and_wait(worker: Worker, request: LeaseRequest) -> list[Lease]:
    """Ask once. The answer may take long and a stop cannot wait: then the thread that asks is left behind."""
    answers: SimpleQueue[list[Lease] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(worker.client.lease(request))
        except Exception as error:  # noqa: BLE001 - raised where it is read
            answers.put(error)

    threading.Thread(target=ask, name=request.request_id, daemon=True).start()
    while True:
        try:
            answer = answers.get(timeout=LISTEN_SECONDS)
        except Empty:
            if worker.patience.stop.is_set():
                _take_back(worker, request)
                return []
            continue
        if isinstance(answer, Exception):
            raise answer
        return answer


def _take_back(worker: Worker, request: LeaseRequest) -> None:
    """See that a request whose answer nobody reads is given nothing, and give back what it was given."""
    with suppress(ServerUnreachable, ServerFailed, Refused):
        worker.sign_off()
        for lease in worker.client.lease(request.model_copy(update={"wait_seconds": 0.0})):
            worker.client.release(lease.lease_id)


def _deliver(worker: Worker, left: Sequence[Result]) -> None:
    """Tell the results that an earlier process left, each at least once; those not taken stay on the disk."""
    for result in left:
        try:
            worker.patience.until_answered(partial(worker.spool.deliver, worker.client, result))
            log.info("%s: delivered the result that waited here", result.name)
        except Refused as refusal:
            log.warning("%s: the result that waited here is refused. %s", result.name, refusal)
        except (Stopped, ServerUnreachable, ServerFailed) as error:
            log.warning("%s: its result goes on waiting here: %s", result.name, error)
