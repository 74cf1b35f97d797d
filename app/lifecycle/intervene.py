"""What people do with a trial: cancel it, try it again, write on it."""

from typing import Any, Final

from app.domain.errors import MoveRefused, StudyEnded, StudyIsCompared, StudyIsMirror
from app.domain.listing import Listing
from app.domain.study import Study
from app.domain.trial import UNFINISHED, Cause, TrialState, Who
from app.lifecycle.move import end_attempt_of, move, tell_of_notes
from app.storage import Transaction, bell, pages, studies, trials

MOST_RETRIED: Final = 100  # in one transaction


def intervene(
    tx: Transaction, project: str, name: str, number: int, changes: dict[str, Any], who: str
) -> None:
    """Do what is asked of a trial. Raises StudyNotFound, TrialNotFound, MoveRefused."""
    changes = dict(changes)
    state = changes.pop("state", None)
    if changes:
        annotate(tx, project, name, number, changes, who)
    if state == TrialState.CANCELLED:
        cancel(tx, project, name, number, who)
    elif state == TrialState.QUEUED:
        retry(tx, project, name, number, who)


def cancel(tx: Transaction, project: str, name: str, number: int, who: str) -> None:
    """End an unfinished trial for good. Raises StudyNotFound, TrialNotFound, MoveRefused."""
    study = _locked(tx, project, name)
    place = trials.place(tx, study, number)
    if place.state is TrialState.CANCELLED:
        return
    if place.state not in UNFINISHED:
        raise MoveRefused(name, number, place.state, "cancelled; only a queued or running one can")
    freed = end_attempt_of(tx, place, TrialState.CANCELLED)
    attempt = place.attempts if place.state is TrialState.RUNNING else None
    move(tx, place, TrialState.CANCELLED, by=Who.PERSON, who=who, attempt=attempt, gpus=freed)
    bell.ring(tx, study.id)


def retry(tx: Transaction, project: str, name: str, number: int, who: str) -> None:
    """Queue a failed trial again, with as many attempts as at first.

    Raises StudyNotFound, StudyEnded, TrialNotFound, MoveRefused.
    """
    study = _locked(tx, project, name)
    if study.archived_at is not None:
        raise StudyEnded(name, "was deleted; none of its trials is tried again")
    if study.mirrors is not None:
        raise StudyIsMirror(name)
    if study.comparison is not None:
        raise StudyIsCompared(name, study.comparison)
    place = trials.place(tx, study, number)
    if place.state is TrialState.QUEUED:
        return
    if place.state is not TrialState.FAILED:
        raise MoveRefused(name, number, place.state, "tried again; only a failed one can")
    move(
        tx,
        place,
        TrialState.QUEUED,
        by=Who.PERSON,
        who=who,
        cause=Cause.RETRIED,
        max_attempts=place.attempts + study.spec.max_attempts,
    )
    bell.ring(tx, study.id)


def retry_failed(tx: Transaction, project: str, name: str, who: str) -> int:
    """Queue the first failed trials of a study again; return how many. Raises StudyNotFound, StudyEnded."""
    study = _locked(tx, project, name)
    failed = pages.page(tx, study, Listing(state=TrialState.FAILED), None, MOST_RETRIED)
    for trial in failed:
        retry(tx, project, name, trial.number, who)
    return len(failed)


def annotate(
    tx: Transaction, project: str, name: str, number: int, remarks: dict[str, Any], who: str
) -> None:
    """Write notes or attributes on a trial. Raises StudyNotFound, TrialNotFound."""
    study = _locked(tx, project, name)
    place = trials.place(tx, study, number)
    trials.annotate(tx, place.id, **remarks)
    tell_of_notes(tx, place, who)


def _locked(tx: Transaction, project: str, name: str) -> Study:
    studies.lock(tx, studies.named(tx, project, name).id)
    return studies.named(tx, project, name)
