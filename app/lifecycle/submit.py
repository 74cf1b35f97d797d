"""Submit a study, and read studies back. Each is a step."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, Final

from app.domain.errors import StudyEnded, StudyExists
from app.domain.study import EARLY, Budget, Progress, Remarks, Spec, Standing, Study, StudyState
from app.domain.trial import Trial
from app.lifecycle import draft, register
from app.lifecycle.study_event import tell_of_study
from app.storage import Transaction, asked, bell, clock, comparisons, studies, trials
from thiessen.spelling import nearest

PACE: Final = 50  # the last trials that say how fast a study goes


def submit(
    tx: Transaction, project: str, spec: Spec, budget: Budget, remarks: Remarks, who: str
) -> tuple[Progress, bool]:
    """Store the study, or find the same one; say whether it is new.

    Raises StudyExists, StudyEnded, ProjectNotFound, and InvalidRequest for a space that its task refuses.
    """
    submitted = draft.submitted(budget)
    created = studies.add(tx, project, spec, budget, remarks, submitted)
    if created is not None:
        if not spec.space.is_open:  # what a program will ask for is not known yet
            register.must_be_trainable(tx, project, spec.task, spec.space)
        tell_of_study(tx, created.id, "study.created", who)
        bell.ring(tx, created.id)
    study = studies.named(tx, project, spec.name)
    if study.archived_at is not None:
        raise StudyEnded(spec.name, "was deleted; choose another name, or have an admin purge it")
    if differing := _differing(study, spec, submitted):
        raise StudyExists(spec.name, differing)
    return _progress(tx, study), created is not None


def progress(tx: Transaction, project: str, name: str) -> Progress:
    """Return the study as it stands. Raises StudyNotFound."""
    return _progress(tx, studies.named(tx, project, name))


def page(
    tx: Transaction,
    project: str,
    limit: int,
    *,
    before: int | None = None,
    state: StudyState | None = None,
    tag: str | None = None,
    prefix: str = "",
    is_archived: bool = False,
    comparison: str | None = None,
) -> Sequence[Progress]:
    """Return the newest studies as they stand, those before an id when one is given.

    Those of a comparison are listed when it is named. Raises ComparisonNotFound.
    """
    found = studies.page(
        tx,
        project,
        limit,
        before=before,
        state=state,
        tag=tag,
        prefix=prefix,
        is_archived=is_archived,
        comparison=None if comparison is None else comparisons.named(tx, project, comparison).id,
    )
    offered = cache(partial(register.names, tx, project))  # asked once at most, and only if a study waits
    return [_progress(tx, study, offered) for study in found]


def trial(tx: Transaction, project: str, name: str, number: int) -> Trial:
    """Return a trial with its attempts and reports. Raises StudyNotFound, TrialNotFound."""
    return trials.numbered(tx, studies.named(tx, project, name), number)


def _progress(tx: Transaction, study: Study, offered: Callable[[], set[str]] | None = None) -> Progress:
    now = clock.read(tx)
    best = trials.best(tx, study, top=1)
    return Progress(
        study=study,
        space=asked.space(tx, study.id) if study.spec.space.is_open else study.spec.space,
        gpu_hours=study.standing.gpu_time(now) / timedelta(hours=1),
        best=best[0] if best else None,
        eta=_eta(tx, study, now),
        waits_for=_waits_for(study, offered or partial(register.names, tx, study.project)),
    )


def _eta(tx: Transaction, study: Study, now: datetime) -> datetime | None:
    """Return when the study ends at the pace of its last trials; None when that cannot be said."""
    standing = study.standing
    if standing.state is not StudyState.ACTIVE or standing.reason in EARLY or not standing.running:
        return None
    finished = trials.last_finished(tx, study.id, PACE)
    if len(finished) < 2:
        return None
    per_trial = (now - min(finished)) / len(finished)
    to_propose = 0 if standing.reason else _to_propose(standing)
    try:
        return now + per_trial * (to_propose + standing.queued + standing.running)
    except OverflowError:
        return None  # in thousands of years


def _to_propose(standing: Standing) -> float:
    """Return how many more trials a study is going to have, if each spends what those before have."""
    left: float = standing.max_trials - (standing.trials - standing.imported)
    ended = sum(count for state, count in standing.counts.items() if state.is_terminal) - standing.imported
    seconds = standing.trained.total_seconds()
    for most, spent in ((standing.max_updates, standing.updates), (standing.max_seconds, seconds)):
        if most is not None and spent and ended > 0:
            left = min(left, max(most - spent, 0.0) * ended / spent)
    return left


def _waits_for(study: Study, offered: Callable[[], set[str]]) -> str | None:
    """Say why nothing of a study is leased now; of tasks those are offered that workers have registered."""
    standing = study.standing
    if study.mirrors is not None:
        return "It mirrors a study of Optuna, whose programs add its trials."
    if standing.state is StudyState.PAUSED:
        return "It is paused; resume it."
    if standing.state is not StudyState.ACTIVE:
        return None
    if standing.max_running is not None and standing.running >= standing.max_running:
        return f"{standing.running} trials are running, and max_running is {standing.max_running}."
    if standing.reason is not None and standing.running and not standing.queued:
        return f"It proposes no more ({standing.reason}); {standing.running} trials are running."
    return None if standing.running else _why_idle(study, offered())


def _why_idle(study: Study, offered: Collection[str]) -> str:
    """Say why no worker has a trial of a study, though there is something to train."""
    task = study.spec.task
    if task not in offered:
        return f"No worker has registered task {task!r} yet; {nearest(task, offered)}."
    version = f" in version {study.task_version}" if study.task_version else ""
    return f"No worker has asked for task {task!r}{version} since; see GET /api/v1/tasks."


def _differing(study: Study, sent: Spec, submitted: dict[str, Any]) -> list[str]:
    """Return what is not the same; a budget that was changed since is the one that was submitted."""
    names = submitted.keys() | study.submitted.keys()
    return [field for field, value in vars(study.spec).items() if value != getattr(sent, field)] + sorted(
        name for name in names if submitted.get(name) != study.submitted.get(name)
    )
