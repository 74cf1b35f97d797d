"""Lease trials to a worker: one whose worker went silent, one that waits, else one proposed for it."""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import Final

from app import failpoint, meters
from app.domain.errors import LeaseLost, StrategyUnavailable, WorkerUnknown
from app.domain.study import EARLY, Requires, Standing, StudyId, StudyState
from app.domain.trial import Leased, Runner, TrialId
from app.lifecycle.memory import Behind, Known, Memory
from app.lifecycle.move import give
from app.lifecycle.propose import Thought, newborn, think_apart
from app.storage import Step, Store, Transaction, asked, attempts, studies, trials, workers
from app.storage.attempts import AlreadyAnswered
from app.storage.studies import Asked, Titles
from app.storage.trials import Given, NewLease, Place

log = logging.getLogger("thiessen.server")

MOST_ROUNDS: Final = 64  # each lost race means that another worker got a trial; the loser may ask again


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which trials a worker can train, and for how long it asks each."""

    project: str | None  # the only one that it may work for
    tasks: Collection[str] | None  # all that it has registered when None
    studies: Collection[str] | None
    most: int
    lease_for: timedelta
    deaf_until: datetime  # until then the leases of silent workers are left alone


@dataclass(frozen=True)
class Found:
    """What a slot is given."""

    leased: list[Leased]
    is_all: bool = False  # there is no more for it


@dataclass(frozen=True)
class Offer:
    """What the worker of a slot has registered."""

    versions: Mapping[str, str | None]  # of each task
    labels: Mapping[str, str]
    is_draining: bool = False


@dataclass(frozen=True)
class Plan:
    """What to try to give: a running trial that is overdue, one that waits, or a new one."""

    study: StudyId
    titles: Titles
    version: str | None  # of the task, as the worker has it
    overdue: TrialId | None = None
    is_queued: bool = False
    has_quota: bool = False  # the project's
    floor: float = -1.0
    is_borrowed: bool = False  # the strategy is to be asked first
    is_unknown: bool = False  # the history is to be read first

    @property
    def is_new(self) -> bool:
        """Whether a strategy that is remembered proposes the trial."""
        return self.overdue is None and not self.is_queued and not self.is_borrowed


@dataclass(kw_only=True)
class Request:
    """A slot asks; what it may be given is found in several steps."""

    memory: Memory
    runner: Runner
    wish: Wish
    lease_ids: Sequence[str]  # of the leases to come
    plan: Plan | None = None  # what was tried last
    passed_over: dict[StudyId, StrategyUnavailable] = field(default_factory=dict)


async def lease(store: Store, memory: Memory, runner: Runner, wish: Wish) -> list[Leased]:
    """Give the worker as many trials as there are, up to the most it wishes.

    The same request again is answered with the same leases, so a lost answer costs nothing; once they have
    ended it is refused. Raises LeaseLost, WorkerUnknown, and StrategyUnavailable when nothing but studies
    whose strategy cannot propose now want a trial.
    """
    lease_ids = [token_hex(16) for _ in range(wish.most)]
    request = Request(memory=memory, runner=runner, wish=wish, lease_ids=lease_ids)
    leased: list[Leased] = []
    for _ in range(MOST_ROUNDS + wish.most):
        found = await _written(store, request, partial(_next, request=request, place=len(leased)))
        if found is None and request.plan is not None:
            found = await _prepared(store, request, request.plan, len(leased))
        if found is not None:
            leased += found.leased
            if found.is_all or len(leased) >= wish.most:
                break
    if request.passed_over and not leased:
        raise next(iter(request.passed_over.values()))
    return leased


async def _written(store: Store, request: Request, step: Step[Found | None]) -> Found | None:
    """Take a step that may give a trial, and learn of it."""
    try:
        found = await store.written(step, is_slow=True)  # a strategy may be asked
    except AlreadyAnswered:  # by a twin of this request, or when it was sent before
        return await store.seen(partial(_given_before, runner=request.runner))
    except Behind:
        return None
    if found is not None and not found.is_all:
        failpoint.reached("claim-committed")
        meters.LEASES.inc()
        if request.plan is not None and request.plan.is_new:
            for leased in found.leased:
                request.memory.number(request.plan.study, leased.number, leased.config)
    return found


async def _prepared(store: Store, request: Request, plan: Plan, place: int) -> Found | None:
    """Do what takes too long for a step that writes: read a history, or ask a strategy of another package."""
    try:
        if plan.is_unknown:
            await asyncio.to_thread(request.memory.load, store, plan.study)
        if not plan.is_borrowed:
            return None
        thought = await think_apart(store, plan.study)
    except StrategyUnavailable as error:
        log.warning("%s", error)
        request.passed_over[plan.study] = error
        return None
    return await _written(
        store, request, partial(_claim, request=request, plan=plan, place=place, thought=thought)
    )


def _next(tx: Transaction, request: Request, place: int) -> Found | None:
    """Find what the slot may be given next, and give it; None when that has to be prepared, or tried anew."""
    request.plan = None
    request.plan = plan = _plan(tx, request)
    if plan is None:
        return Found([], is_all=True) if place else _given_before(tx, request.runner)
    if plan.is_unknown or plan.is_borrowed:
        return None
    return _claim(tx, request, plan, place)


def _plan(tx: Transaction, request: Request) -> Plan | None:
    """Return what the slot may be given next, None when there is nothing."""
    runner, wish = request.runner, request.wish
    offer = _offer(tx, runner, wish)
    if offer.is_draining:
        return None
    wanted = Asked(tasks=list(offer.versions), names=wish.studies, project=wish.project)
    for overdue in trials.overdue(tx, wish.deaf_until, wanted):
        if _fits(runner, offer, overdue.titles.task, overdue.requires, overdue.task_version):
            version = offer.versions[overdue.titles.task]
            return Plan(overdue.study_id, overdue.titles, version, overdue=overdue.trial_id)
    for study in studies.wanting(tx, wanted):
        if study.id in request.passed_over or not _fits(
            runner, offer, study.titles.task, study.requires, study.task_version
        ):
            continue
        known = Known.CURRENT
        if not study.queued:
            try:
                known = request.memory.catch_up(tx, study.id, study.trials, study.observations)
            except StrategyUnavailable as error:
                request.passed_over[study.id] = error
                continue
        return Plan(
            study.id,
            study.titles,
            offer.versions[study.titles.task],
            is_queued=study.queued > 0,
            has_quota=study.has_quota,
            floor=study.floor,
            is_borrowed=known is Known.BORROWED,
            is_unknown=known is Known.NOT_YET,
        )
    return None


def _claim(
    tx: Transaction, request: Request, plan: Plan, place: int, thought: Thought | None = None
) -> Found | None:
    if plan.has_quota and not studies.has_quota_left(tx, plan.study):
        return None
    standing = studies.lock(tx, plan.study)
    if not _may_lease(standing, plan):
        return None
    who, gpus = request.runner.who, request.runner.slot.gpus
    lease = NewLease(request.lease_ids[place], request.wish.lease_for, plan.floor)
    if plan.version is not None and standing.task_version is None:
        studies.pin(tx, plan.study, plan.version)
    if plan.overdue is None and not plan.is_queued:
        new = newborn(tx, request.memory, standing, lease, who=who, gpus=gpus, thought=thought)
        return None if new is None else _begin(tx, request, plan, lease, place, *new, attempt=1)
    found = trials.next_queued(tx, plan.study) if plan.overdue is None else _overdue(tx, plan.overdue)
    if found is None:
        return None
    given = give(tx, found, lease, who=who, gpus=gpus)
    return _begin(tx, request, plan, lease, place, found, given, attempt=found.attempts + 1)


def _begin(
    tx: Transaction,
    request: Request,
    plan: Plan,
    lease: NewLease,
    place: int,
    found: Place,
    given: Given,
    *,
    attempt: int,
) -> Found:
    """Begin the attempt of a trial that has just been given. Raises AlreadyAnswered."""
    attempts.begin(tx, found.id, attempt, lease.id, request.runner, place=place, task_version=plan.version)
    leased = Leased(
        lease_id=lease.id,
        project=plan.titles.project,
        study=plan.titles.study,
        number=found.number,
        attempt=attempt,
        task=plan.titles.task,
        config=given.config,
        seed=given.seed,
        space=asked.space(tx, found.study_id) if given.is_open else None,
        expires_at=given.expires_at,
        lease_seconds=lease.milliseconds / 1000,
    )
    return Found([leased])


def _may_lease(standing: Standing, plan: Plan) -> bool:
    """Say whether what was planned holds still, now that the study's row is locked."""
    goes_on = standing.state is StudyState.ACTIVE and standing.reason not in EARLY
    if not goes_on or standing.task_version not in {None, plan.version}:
        return False
    if plan.overdue is not None:
        return True
    if standing.max_running is not None and standing.running >= standing.max_running:
        return False
    return plan.is_queued or (standing.reason is None and not standing.budget_is_used_up)


def _overdue(tx: Transaction, trial_id: TrialId) -> Place | None:
    """Return a running trial that nobody has spoken for in time, if it may be tried again."""
    found = trials.at(tx, trial_id)
    is_free = found.attempts < found.max_attempts and trials.is_overdue(tx, trial_id)
    return found if is_free and attempts.late_result(tx, trial_id) is None else None


def _given_before(tx: Transaction, runner: Runner) -> Found:
    """Return the leases that this request was answered with. Raises LeaseLost when all of them have ended."""
    given = attempts.of_request(tx, runner)
    leased = [found for lease_id in given if (found := trials.leased(tx, lease_id))]
    if given and not leased:
        raise LeaseLost(given[0], f"request {runner.request_id!r} was given it, and it has ended since")
    return Found(leased, is_all=True)


def _offer(tx: Transaction, runner: Runner, wish: Wish) -> Offer:
    """Return what the slot can train. Raises WorkerUnknown."""
    known = workers.registered(tx, runner.worker)
    if known is None or known.incarnation != runner.incarnation:
        if wish.tasks is None:
            raise WorkerUnknown(runner.worker, runner.incarnation)
        return Offer(dict.fromkeys(wish.tasks), {})
    versions = {task["name"]: task["version"] for task in known.tasks}
    if wish.tasks is not None:
        versions = {name: versions.get(name) for name in wish.tasks}
    return Offer(versions, known.labels, known.is_draining)


def _fits(runner: Runner, offer: Offer, task: str, requires: Requires, version: str | None) -> bool:
    """Say whether the slot may train this."""
    return (
        runner.slot.gpus >= requires.gpus
        and runner.slot.gpu_memory_gb >= requires.gpu_memory_gb
        and all(offer.labels.get(label) == value for label, value in requires.labels.items())
        and version in {None, offer.versions[task]}
    )
