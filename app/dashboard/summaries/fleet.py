"""The fleet: each worker with what its slots train now, and what the queue waits for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from app.dashboard.values import many, span
from app.domain.access import Principal
from app.domain.errors import WorkerNotFound
from app.domain.study import Progress, StudyState
from app.domain.trial import TrialState
from app.house import House
from app.lifecycle import register, submit
from app.storage import Transaction, clock, projects, workers
from app.storage.workers import Registered, UnderWay

MOST_WORKERS: Final = 200  # on one page, the last heard first
MOST_RUNNING: Final = 2_000
MOST_WAITING: Final = 100  # studies
GOES_ON: Final = "It is being trained; what is left goes to slots as they become free."


@dataclass(frozen=True)
class Training:
    """A trial that a slot trains now."""

    project: str
    study: str
    trial: int
    attempt: int
    runs_for: str


@dataclass(frozen=True)
class SlotLine:
    """A device, and what it trains."""

    name: str
    has: str
    trains: Training | None


@dataclass(frozen=True)
class WorkerLine:
    """One worker."""

    name: str
    state: str
    is_silent: bool
    is_draining: bool
    seen_at: datetime
    silence: str  # since then
    registered_at: datetime
    who: str
    slots: list[SlotLine]
    busy: int
    labels: dict[str, str]
    tasks: list[str]  # with their versions


@dataclass(frozen=True)
class Waiting:
    """A study that has trials to train, and how many."""

    study: str
    queued: int
    to_propose: int


@dataclass(frozen=True)
class Reason:
    """What studies wait for."""

    says: str
    trials: int
    studies: list[Waiting]


@dataclass(frozen=True)
class Fleet:
    """Every worker, and the queue."""

    says: str
    workers: list[WorkerLine]
    more: int  # workers that there was no room for
    queue: list[Reason]
    server: str  # its address, for a worker


def read_fleet(house: House, project: str, who: Principal | None, server: str) -> Fleet:
    """Return the workers that may work for a project, and its queue. Raises ProjectNotFound."""

    def at_once(tx: Transaction) -> tuple[list[WorkerLine], int, Sequence[Progress]]:
        found = _workers(tx, project)
        lines = _lines(tx, found[:MOST_WORKERS], project, who)
        return lines, len(found), submit.page(tx, project, MOST_WAITING, state=StudyState.ACTIVE)

    lines, many_workers, waiting = house.store.read(at_once)
    return Fleet(
        says=_told([line for line in lines if not line.is_silent]),
        workers=lines,
        more=max(many_workers - MOST_WORKERS, 0),
        queue=_queue(waiting),
        server=server,
    )


def read_worker(house: House, project: str, who: Principal | None, name: str) -> WorkerLine:
    """Return one worker. Raises ProjectNotFound, WorkerNotFound."""

    def at_once(tx: Transaction) -> list[WorkerLine]:
        return _lines(tx, [each for each in _workers(tx, project) if each.name == name], project, who)

    for line in house.store.read(at_once):
        return line
    raise WorkerNotFound(name)


def _workers(tx: Transaction, project: str) -> Sequence[Registered]:
    projects.named(tx, project)
    return workers.every(tx, project)


def _lines(
    tx: Transaction, found: Sequence[Registered], project: str, who: Principal | None
) -> list[WorkerLine]:
    now = clock.read(tx)
    seen = project if who is None else who.project  # a token for one project learns of no other
    running = workers.under_way(tx, [worker.name for worker in found], seen, MOST_RUNNING)
    trained = {(each.worker, each.device): each for each in running}
    return [_line(worker, trained, now) for worker in found]


def _line(worker: Registered, trained: dict[tuple[str, str], UnderWay], now: datetime) -> WorkerLine:
    slots = [
        SlotLine(slot["name"], _has(slot), _training(trained.get((worker.name, slot["name"])), now))
        for slot in worker.slots
    ]
    busy = sum(slot.trains is not None for slot in slots)
    is_silent = now - worker.seen_at >= register.GONE_AFTER
    return WorkerLine(
        name=worker.name,
        state=_state(worker, busy, is_silent=is_silent),
        is_silent=is_silent,
        is_draining=worker.is_draining,
        seen_at=worker.seen_at,
        silence=span(now - worker.seen_at),
        registered_at=worker.registered_at,
        who=worker.who,
        slots=slots,
        busy=busy,
        labels=worker.labels,
        tasks=[" ".join(filter(None, (task["name"], task["version"]))) for task in worker.tasks],
    )


def _has(slot: dict[str, object]) -> str:
    told = []
    if slot.get("gpus"):
        told.append(many(int(str(slot["gpus"])), "GPU"))
    if slot.get("gpu_memory_gb"):
        told.append(f"{float(str(slot['gpu_memory_gb'])):g} GB")
    return ", ".join(told)


def _training(attempt: UnderWay | None, now: datetime) -> Training | None:
    if attempt is None:
        return None
    took = span(now - attempt.started_at)
    return Training(attempt.project, attempt.study, attempt.trial, attempt.attempt, took)


def _state(worker: Registered, busy: int, *, is_silent: bool) -> str:
    if is_silent:
        return "silent"
    if worker.is_draining:
        return "draining" if busy else "drained"
    return "working" if busy else "idle"


def _told(heard: list[WorkerLine]) -> str:
    if not heard:
        return "No worker is connected, so nothing is trained."
    slots = sum(len(line.slots) for line in heard)
    verb = "is" if len(heard) == 1 else "are"
    busy = sum(line.busy for line in heard)
    told = f"{many(len(heard), 'worker')} {verb} connected; {busy} of {many(slots, 'slot')} busy"
    draining = sum(line.is_draining for line in heard)
    return f"{told}; {draining} draining." if draining else f"{told}."


def _queue(active: Iterable[Progress]) -> list[Reason]:
    """Return what studies wait for, that of the most trials first."""
    waiting = [(progress.waits_for or GOES_ON, _waiting(progress)) for progress in active]
    waiting = [(why, each) for why, each in waiting if each.queued or each.to_propose]
    waiting.sort(key=lambda each: (each[0], each[1].study))
    reasons = [
        Reason(why, sum(each.queued + each.to_propose for each in studies), studies)
        for why, group in groupby(waiting, key=lambda each: each[0])
        for studies in [[each for _, each in group]]
    ]
    return sorted(reasons, key=lambda reason: -reason.trials)


def _waiting(progress: Progress) -> Waiting:
    standing = progress.study.standing
    is_open_ended = standing.reason is None
    left = standing.max_trials - (standing.trials - standing.imported) if is_open_ended else 0
    return Waiting(progress.study.spec.name, progress.counts[TrialState.QUEUED], max(left, 0))
