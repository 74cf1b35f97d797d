"""What the database has of a trial, and of what is beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.domain.study import Progress
from app.domain.trial import Origin, Trial, TrialLine, TrialState
from app.lifecycle import register, submit
from app.storage import Transaction, clock, pages, trials, workers
from app.storage.workers import Registered

MOST_RANKED: Final = 100  # better trials that are counted
MOST_AHEAD: Final = 100  # trials that are counted in the queue
BY_PEOPLE: Final[Mapping[Origin, str]] = {
    Origin.IMPORTED: "A person added it with its result.",
    Origin.ENQUEUED: "A person added it to be tried.",
}


@dataclass(frozen=True)
class Known:
    """What the database has of a trial."""

    progress: Progress
    trial: Trial
    now: datetime
    better: int | None  # succeeded trials, up to so many; None where it has no rank
    neighbour: TrialLine | None
    ahead: int  # in the queue, up to so many
    heard: Sequence[Registered]  # lately, if it waits


def known_of(tx: Transaction, project: str, name: str, number: int) -> Known:
    """Return what there is of a trial. Raises StudyNotFound, TrialNotFound."""
    progress = submit.progress(tx, project, name)
    study = progress.study
    found = trials.numbered(tx, study, number)
    now = clock.read(tx)
    is_ranked = found.state is TrialState.SUCCEEDED and found.loss is not None
    nearest = found.reasons.get("nearest_trial")
    is_queued = found.state is TrialState.QUEUED
    heard = workers.every(tx, project) if is_queued else []
    return Known(
        progress=progress,
        trial=found,
        now=now,
        better=trials.better(tx, study.id, found.loss, MOST_RANKED) if is_ranked else None,  # type: ignore[arg-type]
        neighbour=next(iter(pages.numbered(tx, study, [nearest])), None) if nearest is not None else None,
        ahead=trials.before_in_queue(tx, study.id, number, MOST_AHEAD) if is_queued else 0,
        heard=[worker for worker in heard if worker.seen_at >= now - register.GONE_AFTER],
    )
