"""End what has come to its end by time alone. Overdue trials that may be tried again are given by `lease`."""

from datetime import datetime
from functools import partial

from app import meters
from app.domain.study import Ending, StudyId
from app.domain.trial import Cause, TrialId, TrialState, Who
from app.lifecycle.move import end_attempt_of, settle
from app.lifecycle.report import Ends, give_up, queue_again
from app.storage import Store, Transaction, bell, studies, trials

SERVER = "server"


def expire(store: Store, deaf_until: datetime) -> None:
    """End studies whose time is over, and attempts that went silent and that nobody takes over."""
    for study_id, ending in store.read(studies.over_time):
        store.write(partial(_end_study, study_id=study_id, ending=ending))
    for trial_id, study_id in store.read(partial(trials.hopeless, deaf_until=deaf_until)):
        if state := store.write(partial(_end_trial, trial_id=trial_id, study_id=study_id)):
            meters.EXPIRIES.inc()
            if state is not TrialState.QUEUED:
                meters.RESULTS.labels(state).inc()
    overdue = store.read(partial(trials.any_overdue, deaf_until=deaf_until))
    if overdue is not None:
        store.write(lambda tx: bell.ring(tx, overdue))


def _end_study(tx: Transaction, study_id: StudyId, ending: Ending) -> None:
    standing = studies.lock(tx, study_id)
    if (study_id, ending) not in studies.over_time(tx):  # extended, or ended, meanwhile
        return
    studies.settle(tx, study_id, standing.state, ending)
    settle(tx, studies.standing(tx, study_id), SERVER)


def _end_trial(tx: Transaction, trial_id: TrialId, study_id: StudyId) -> TrialState | None:
    """Fail a trial whose worker vanished, or put it back where its study gives nothing now."""
    studies.lock(tx, study_id)
    if not trials.is_overdue(tx, trial_id):
        return None
    place = trials.at(tx, trial_id)
    freed = end_attempt_of(tx, place, Cause.LOST)
    is_last = place.attempts >= place.max_attempts
    is_retried = not is_last and Cause.LOST in studies.retried(tx, study_id)
    cause = Cause.ATTEMPTS_USED_UP if is_last else Cause.LOST
    ending: Ends = queue_again if is_retried else give_up
    return ending(tx, place, cause, by=Who.SERVER, who=SERVER, attempt=place.attempts, gpus=freed)
