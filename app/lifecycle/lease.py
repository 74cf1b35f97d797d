"""Lease trials to a worker: one whose worker went silent, one that waits, else one proposed for it."""

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import Final

from app.domain.errors import LeaseLost, StrategyUnavailable, WorkerUnknown
from app.domain.study import Duplicates, Ending, Requires, StudyId, StudyState
from app.domain.trial import Cause, Leased, Origin, Result, Runner, TrialId, TrialState, Who
from app.lifecycle.memory import Memory
from app.lifecycle.move import born, end_attempt_of, move, settle
from app.lifecycle.propose import Thought
from app.lifecycle.report import give_up
from app.storage import Store, Transaction, attempts, studies, trials, workers
from app.storage.store import Taken
from app.storage.trials import NewLease, Place
from thiessen.search import Exhausted

log = logging.getLogger("thiessen.server")

MOST_ROUNDS: Final = 64  # each lost race means that another worker got a trial; the loser may ask again


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which trials a worker can train, and for how long it asks each."""

    who: str
    project: str | None  # the only one that it may work for
    tasks: Collection[str] | None  # all that it has registered when None
    studies: Collection[str] | None
    most: int
    lease_for: timedelta
    deaf_until: datetime  # until then the leases of silent workers are left alone


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a slot can train: a wish, and what its worker has registered."""

    runner: Runner
    wish: Wish
    versions: Mapping[str, str | None]  # of each task
    labels: Mapping[str, str]
    is_draining: bool

    def fits(self, task: str, requires: Requires, version: str | None) -> bool:
        """Say whether the slot may train this."""
        slot = self.runner.slot
        return (
            slot.gpus >= requires.gpus
            and slot.gpu_memory_gb >= requires.gpu_memory_gb
            and all(self.labels.get(label) == value for label, value in requires.labels.items())
            and version in {None, self.versions[task]}
        )


@dataclass(frozen=True)
class Plan:
    """What to try to give: a running trial that is overdue, or what a study has next."""

    overdue: TrialId | None = None
    study: StudyId | None = None
    task: str = ""
    floor: float = -1.0
    is_queued: bool = False


def lease(store: Store, memory: Memory, runner: Runner, wish: Wish) -> list[Leased]:
    """Give the worker as many trials as there are, up to the most it wishes.

    The same request again is answered with the same leases, so a lost answer costs nothing; once they have
    ended it is refused. Raises LeaseLost, WorkerUnknown, and StrategyUnavailable when nothing but studies
    whose strategy cannot propose now want a trial.
    """
    if earlier := store.read(partial(_given_before, runner=runner)):
        return earlier
    leased: list[Leased] = []
    for place in range(wish.most):
        try:
            found = _one(store, memory, runner, wish, place)
        except Taken:  # the same request, sent twice at once: the other one has been given them
            return store.read(partial(_given_before, runner=runner))
        except StrategyUnavailable:
            if not leased:
                raise
            return leased
        if found is None:
            return leased
        leased.append(found)
    return leased


def _one(store: Store, memory: Memory, runner: Runner, wish: Wish, place: int) -> Leased | None:
    passed_over: dict[StudyId, StrategyUnavailable] = {}
    for _ in range(MOST_ROUNDS):
        offer, plan = store.read(partial(_plan, runner=runner, wish=wish, passed_over=passed_over))
        if plan is None:
            break
        lease = NewLease(token_hex(16), wish.lease_for, plan.floor)
        claim = partial(_claim, offer=offer, plan=plan, lease=lease, place=place)
        if plan.study is not None and not plan.is_queued:
            try:
                thought = memory.think(store, plan.study)
            except Exhausted:
                store.write(partial(_exhaust, study_id=plan.study, who=wish.who))
                continue
            except StrategyUnavailable as error:
                log.warning("%s", error)
                passed_over[plan.study] = error
                continue
            claim = partial(claim, thought=thought)
        leased = store.write(claim)
        if leased is not None:
            return leased
    for unavailable in passed_over.values():
        raise unavailable
    return None


def _given_before(tx: Transaction, runner: Runner) -> list[Leased]:
    """Return the leases that this request was answered with. Raises LeaseLost when all of them have ended."""
    given = attempts.of_request(tx, runner)
    leased = [found for lease_id in given if (found := trials.leased(tx, lease_id))]
    if given and not leased:
        raise LeaseLost(given[0], f"request {runner.request_id!r} was given it, and it has ended since")
    return leased


def _plan(
    tx: Transaction, runner: Runner, wish: Wish, passed_over: Collection[StudyId]
) -> tuple[Offer, Plan | None]:
    """Return what the slot may be given next."""
    offer = _offer(tx, runner, wish)
    if offer.is_draining:
        return offer, None
    asked = {"tasks": list(offer.versions), "names": wish.studies, "project": wish.project}
    for overdue in trials.overdue(tx, wish.deaf_until, **asked):
        if offer.fits(overdue.task, overdue.requires, overdue.task_version):
            return offer, Plan(overdue=overdue.trial_id, study=None, task=overdue.task)
    for study in studies.wanting(tx, **asked):
        if study.id not in passed_over and offer.fits(study.task, study.requires, study.task_version):
            return offer, Plan(None, study.id, study.task, study.floor, study.queued > 0)
    return offer, None


def _offer(tx: Transaction, runner: Runner, wish: Wish) -> Offer:
    """Return what the slot can train. Raises WorkerUnknown."""
    known = workers.registered(tx, runner.worker)
    if known is None or known.incarnation != runner.incarnation:
        if wish.tasks is None:
            raise WorkerUnknown(runner.worker, runner.incarnation)
        return Offer(
            runner=runner, wish=wish, versions=dict.fromkeys(wish.tasks), labels={}, is_draining=False
        )
    versions = {task["name"]: task["version"] for task in known.tasks}
    if wish.tasks is not None:
        versions = {name: versions.get(name) for name in wish.tasks}
    return Offer(
        runner=runner, wish=wish, versions=versions, labels=known.labels, is_draining=known.is_draining
    )


def _claim(
    tx: Transaction, offer: Offer, plan: Plan, lease: NewLease, place: int, thought: Thought | None = None
) -> Leased | None:
    """Give the planned trial, or None when another was faster."""
    if plan.overdue is not None:
        found = _take_over(tx, plan.overdue, offer)
    elif thought is not None:
        found = _newborn(tx, thought, offer)
    else:
        found = _waiting(tx, plan.study, offer)
    if found is None:
        return None
    return _begin(tx, found, offer, plan, lease, place)


def _begin(
    tx: Transaction, found: Place, offer: Offer, plan: Plan, lease: NewLease, place: int
) -> Leased | None:
    runner = offer.runner
    cause = None
    if found.state is TrialState.RUNNING:
        cause = Cause.LOST
    freed = end_attempt_of(tx, found, Cause.LOST)
    version = offer.versions[plan.task]
    standing = move(
        tx,
        found,
        TrialState.RUNNING,
        by=Who.WORKER,
        who=offer.wish.who,
        cause=cause,
        attempt=found.attempts + 1,
        gpus=freed - runner.slot.gpus,
        lease=lease,
    )
    attempts.begin(
        tx, found.id, found.attempts + 1, lease.id, runner, place=place, task_version=version
    )
    if version is not None and standing.task_version is None:
        studies.pin(tx, standing.id, version)
    return trials.leased(tx, lease.id)
