"""Lease a trial to a worker: one that waits, else one proposed for the occasion."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from secrets import token_hex
from typing import Final

from app.domain.errors import LeaseLost
from app.domain.study import Ending, Study
from app.domain.trial import Cause, Leased, Runner, TrialState
from app.lifecycle.propose import propose
from app.storage import Step, Store, Transaction, attempts, observations, studies, trials
from app.storage.attempts import AlreadyAnswered
from app.storage.trials import Overdue
from thiessen.search import Exhausted, Proposal, trial_seed

MOST_ROUNDS: Final = 16  # each lost race means that another worker got a trial; the loser may ask again


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Which trials a worker can train, and for how long it asks each."""

    tasks: Collection[str]
    studies: Collection[str] | None
    lease_for: timedelta


def lease(store: Store, runner: Runner, wish: Wish) -> Leased | None:
    """Give the worker a trial to train, or None when no study wants one.

    The same request again is answered with the same lease, so a lost answer costs nothing; once that
    lease has ended it is refused. Raises LeaseLost.
    """
    for trial in store.read(trials.overdue):
        store.write(partial(_give_up, trial=trial))
    claim = partial(_claim, lease_id=token_hex(16), runner=runner, wish=wish)
    step: Step[Leased | None] = claim
    for _ in range(MOST_ROUNDS):
        try:
            leased = store.write(step)
        except AlreadyAnswered:
            step = claim  # which finds what the other one was given
            continue
        if leased is not None:
            return leased
        study = store.read(lambda tx: studies.wanting_a_proposal(tx, tasks=wish.tasks, names=wish.studies))
        if study is None:
            return None
        step = _proposing(store, study, claim)
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
            trials.add(tx, study, config=proposal.config, seed=seed, reasons=_reasons(proposal))
        return claim(tx)

    return step


def _claim(tx: Transaction, lease_id: str, runner: Runner, wish: Wish) -> Leased | None:
    if earlier := attempts.lease_of_request(tx, runner):
        leased = trials.leased(tx, earlier)
        if leased is None:
            raise LeaseLost(earlier, f"request {runner.request_id!r} was given it, and it has ended since")
        return leased
    trial_id = trials.claim(
        tx, lease_id=lease_id, lease_for=wish.lease_for, tasks=wish.tasks, names=wish.studies
    )
    if trial_id is None:
        return None
    attempts.begin(tx, trial_id, lease_id, runner)
    return trials.leased(tx, lease_id)


def _give_up(tx: Transaction, trial: Overdue) -> None:
    """End a trial whose last permitted attempt went silent."""
    studies.lock(tx, trial.study_id)
    if not trials.is_overdue(tx, trial):
        return
    cause = Cause.ATTEMPTS_USED_UP
    trials.finish(tx, trial.trial_id, trial.lease_id, TrialState.FAILED, cause=cause)
    attempts.end(tx, trial.lease_id, Cause.LOST)
    observations.append(
        tx,
        trial.study_id,
        studies.take_seq(tx, trial.study_id),
        trial=trial.number,
        attempt=trial.attempt,
        outcome=TrialState.FAILED,
        cause=cause,
    )


def _reasons(proposal: Proposal) -> dict[str, object]:
    return {name: value for name, value in vars(proposal).items() if name != "config"}
