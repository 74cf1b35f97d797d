"""Lease a trial to a worker: one that waits, else one proposed for the occasion."""

import logging
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import Final

from app import meters
from app.domain.errors import LeaseLost, StrategyUnavailable
from app.domain.study import Ending, Study, StudyId
from app.domain.trial import Leased, Runner
from app.lifecycle.expire import expire
from app.lifecycle.propose import propose
from app.storage import Step, Store, Transaction, attempts, studies, trials
from app.storage.attempts import AlreadyAnswered
from thiessen.search import Exhausted, trial_seed

log = logging.getLogger("thiessen.server")

MOST_ROUNDS: Final = 16  # each lost race means that another worker got a trial; the loser may ask again


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which trials a worker can train, and for how long it asks each."""

    tasks: Collection[str]
    studies: Collection[str] | None
    lease_for: timedelta
    deaf_until: datetime  # until then the leases of silent workers are left alone


def lease(store: Store, runner: Runner, wish: Wish) -> Leased | None:
    """Give the worker a trial to train, or None when no study wants one.

    The same request again is answered with the same lease, so a lost answer costs nothing; once that
    lease has ended it is refused. Raises LeaseLost, and StrategyUnavailable when nothing but studies whose
    strategy cannot propose now want a trial.
    """
    expire(store, wish.deaf_until)
    lease_id = token_hex(16)
    claim = partial(_claim, lease_id=lease_id, runner=runner, wish=wish)
    step: Step[Leased | None] = claim
    passed_over: dict[StudyId, StrategyUnavailable] = {}
    for _ in range(MOST_ROUNDS):
        try:
            leased = store.write(step)
        except AlreadyAnswered:
            step = claim  # which finds what the other one was given
            continue
        if leased is not None:
            meters.LEASES.inc(leased.lease_id == lease_id)  # else it was given before
            return leased
        study = store.read(
            lambda tx: studies.wanting_a_proposal(
                tx, tasks=wish.tasks, names=wish.studies, passed_over=passed_over
            )
        )
        if study is None:
            break
        try:
            step = _proposing(store, study, claim)
        except StrategyUnavailable as error:
            log.warning("%s", error)
            passed_over[study.id] = error
            step = claim
    for unavailable in passed_over.values():
        raise unavailable
    return None


def _proposing(store: Store, study: Study, claim: Step[Leased | None]) -> Step[Leased | None]:
    """Think of a config for `study`; return the step that stores it as a trial and claims."""
    try:
        proposal = propose(store, study)
    except Exhausted:
        store.write(lambda tx: studies.end(tx, study, Ending.EXHAUSTED))
        return claim

    def step(tx: Transaction) -> Leased | None:
        is_still_next = studies.take_number(tx, study)  # else somebody was faster, and knew more
        if is_still_next:
            seed = trial_seed(study.spec.seed, study.trials)
            trials.add(tx, study, config=proposal.config, seed=seed, reasons=asdict(proposal.reasons))
        return claim(tx)

    return step


def _claim(tx: Transaction, lease_id: str, runner: Runner, wish: Wish) -> Leased | None:
    if earlier := attempts.lease_of_request(tx, runner):
        leased = trials.leased(tx, earlier)
        if leased is None:
            raise LeaseLost(earlier, f"request {runner.request_id!r} was given it, and it has ended since")
        return leased
    trial_id = trials.claim(
        tx,
        lease_id=lease_id,
        lease_for=wish.lease_for,
        deaf_until=wish.deaf_until,
        tasks=wish.tasks,
        names=wish.studies,
    )
    if trial_id is None:
        return None
    attempts.begin(tx, trial_id, lease_id, runner)
    return trials.leased(tx, lease_id)
