"""What people change of a study: whether it goes on, how far, and what they write on it."""

from collections.abc import Mapping
from typing import Any, Final

from app.domain.errors import InvalidRequest, StudyEnded, StudyIsCompared, StudyIsMirror
from app.domain.study import Ending, Study, StudyState
from app.lifecycle.move import settle
from app.lifecycle.study_event import tell_of_study
from app.storage import Transaction, audit, bell, studies, trials

BUDGET: Final = frozenset(
    {"max_trials", "max_running", "max_gpu_hours", "max_updates", "max_seconds", "deadline", "target"}
)
REMARKS: Final = frozenset({"tags", "notes", "attributes"})
ENDED_BY: Final = {
    "max_trials": (Ending.MAX_TRIALS, Ending.EXHAUSTED),
    "max_gpu_hours": (Ending.MAX_GPU_HOURS,),
    "max_updates": (Ending.MAX_UPDATES,),
    "max_seconds": (Ending.MAX_SECONDS,),
    "deadline": (Ending.DEADLINE,),
    "target": (Ending.TARGET,),
}


def change(tx: Transaction, project: str, name: str, changes: Mapping[str, Any], who: str) -> None:
    """Pause, resume, stop, extend, or write remarks. Raises StudyNotFound, StudyEnded, InvalidRequest."""
    studies.lock(tx, studies.named(tx, project, name).id)
    study = studies.named(tx, project, name)
    if study.archived_at is not None:
        raise StudyEnded(name, "was deleted; nothing of it changes any more")
    if study.mirrors is not None and changes.keys() - REMARKS:
        raise StudyIsMirror(name)
    if study.comparison is not None and changes.keys() & BUDGET:
        raise StudyIsCompared(name, study.comparison)
    apply(tx, study, changes, who)


def apply(tx: Transaction, study: Study, changes: Mapping[str, Any], who: str) -> None:
    """Change a study whose row is locked. Raises StudyEnded, InvalidRequest."""
    changes = {**changes, **_restated(study, changes), **_reopened(study, changes)}
    if changes.get("target") is not None:
        changes["target"] = study.spec.direction.loss(changes["target"])
    if changes.get("max_trials", study.standing.max_trials) < study.standing.trials - study.standing.imported:
        raise InvalidRequest(
            f"max_trials of study {study.spec.name!r} cannot be {changes['max_trials']}: "
            f"{study.standing.trials - study.standing.imported} trials are numbered already. "
            "Stop the study, or choose at least that number."
        )
    studies.change(tx, study.id, **changes)
    standing = tell_of_study(tx, study.id, "study.changed", who, **changes)
    settle(tx, standing, who, loss=trials.lowest_loss(tx, study.id))
    bell.ring(tx, study.id)


def archive(tx: Transaction, project: str, name: str, who: str) -> None:
    """Stop a study and take it out of every list; its history is kept. Raises StudyNotFound."""
    study_id = _apart(tx, project, name).id
    studies.lock(tx, study_id)
    put_away(tx, studies.numbered(tx, study_id), who)


def put_away(tx: Transaction, study: Study, who: str) -> None:
    """Archive a study whose row is locked."""
    if study.archived_at is not None:
        return
    is_ended = study.standing.state is StudyState.COMPLETED
    state = StudyState.COMPLETED if is_ended else StudyState.STOPPED
    studies.change(tx, study.id, state=state)
    studies.archive(tx, study.id)
    tell_of_study(tx, study.id, "study.archived", who, state=state.value)


def purge(tx: Transaction, project: str, name: str, who: str) -> None:
    """Remove a study with everything that is known of it, for good. Raises StudyNotFound."""
    study = _apart(tx, project, name)
    studies.lock(tx, study.id)
    studies.remove(tx, study.id)
    audit.append(tx, who, "study.purged", f"{project}/{name}", None)


def _apart(tx: Transaction, project: str, name: str) -> Study:
    """Return a study that is no part of a comparison. Raises StudyNotFound, StudyIsCompared."""
    study = studies.named(tx, project, name)
    if study.comparison is not None:
        raise StudyIsCompared(name, study.comparison)
    return study


def _restated(study: Study, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state that a study gets; one that is completed only goes on by a larger budget."""
    wanted = changes.get("state")
    if wanted is None:
        return {}
    if study.standing.state is StudyState.COMPLETED and not BUDGET & changes.keys():
        if wanted == StudyState.COMPLETED:
            return {}
        raise StudyEnded(
            study.spec.name,
            f"is completed ({study.standing.reason}); extend its budget to go on, for example max_trials",
        )
    return {"state": wanted}


def _reopened(study: Study, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Forget why a study ended when that part of its budget changes; whether it holds is seen anew."""
    ended_by = {reason for name in BUDGET & changes.keys() for reason in ENDED_BY.get(name, ())}
    return {"reason": None} if study.standing.reason in ended_by else {}
