"""End the trials whose last permitted attempt went silent. Others are simply given away by `lease`."""

from datetime import datetime
from functools import partial

from app import meters
from app.domain.trial import Cause, TrialState
from app.storage import Store, Transaction, attempts, observations, studies, trials
from app.storage.trials import Overdue


def expire(store: Store, deaf_until: datetime) -> None:
    """End each of them in a transaction of its own."""
    for trial in store.read(lambda tx: trials.overdue(tx, deaf_until)):
        if store.write(partial(_give_up, trial=trial)):
            meters.EXPIRIES.inc()
            meters.RESULTS.labels(TrialState.FAILED).inc()


def _give_up(tx: Transaction, trial: Overdue) -> bool:
    studies.lock(tx, trial.study_id)
    if not trials.is_overdue(tx, trial):
        return False
    cause = Cause.ATTEMPTS_USED_UP
    trials.finish(tx, trial.lease_id, TrialState.FAILED, cause=cause)
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
    return True
