"""One trial: its config, why it was proposed, its attempts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.dashboard.actions import Action
from app.dashboard.summaries.lines import Best, best_of
from app.dashboard.summaries.trial_actions import trial_actions
from app.dashboard.values import Shown, brief, many, shown, span
from app.domain.trial import Attempt, Origin, Trial
from app.house import House
from app.lifecycle import submit
from app.storage import clock
from thiessen.figures.text import short
from thiessen.search import Reasons


@dataclass(frozen=True)
class AttemptLine:
    """One execution of a trial."""

    number: int
    outcome: str
    where: str
    took: str
    message: str
    traceback: str
    log_tail: str


@dataclass(frozen=True)
class TrialPage:
    """One trial: its config beside the best one, why it was proposed, and its attempts."""

    study: str
    number: int
    state: str
    says: str
    why: str
    notes: str
    config: Shown
    rows: list[tuple[str, str, str]]  # name, here, in the best config
    best: Best | None
    attempts: list[AttemptLine]
    seed: int
    last: int  # the number of the newest trial
    is_live: bool
    after: int  # the number of the last event that this shows
    actions: list[Action]


def read_trial(house: House, project: str, name: str, number: int) -> TrialPage:
    """Return a trial. Raises StudyNotFound, TrialNotFound."""
    progress, found, now = house.store.read(
        lambda tx: (
            submit.progress(tx, project, name),
            submit.trial(tx, project, name, number),
            clock.read(tx),
        )
    )
    best = best_of(progress)
    dimensions = progress.space.dimensions
    ranked = {} if progress.best is None else progress.best.config
    return TrialPage(
        study=name,
        number=number,
        state=found.state,
        says=_told(found),
        why=_proposed(found),
        notes=found.notes,
        config=shown(dimensions, found.config),
        rows=[(each, _held(found.config, each), _held(ranked, each)) for each in dimensions],
        best=best,
        attempts=[_attempt(each, now) for each in found.attempts],
        seed=found.seed,
        last=progress.study.standing.trials - 1,
        is_live=not found.state.is_terminal,
        after=progress.study.standing.events,
        actions=trial_actions(progress.study, found),
    )


def _held(config: Mapping[str, Any], name: str) -> str:
    return brief(config[name]) if name in config else "–"  # noqa: RUF001 - the sign for what is not there


def _told(found: Trial) -> str:
    """Return the state of a trial in a sentence."""
    cause = "" if found.cause is None else f" ({found.cause.replace('_', ' ')})"
    tried = many(len(found.attempts), "attempt")
    if found.value is not None:
        return f"Its value is {short(found.value)}, after {tried}{cause}."
    return f"It has no value, after {tried}{cause}."


def _proposed(found: Trial) -> str:
    """Return why this config is tried, in a sentence."""
    if found.reasons:
        return Reasons.from_json(found.reasons).explain()
    return {
        Origin.IMPORTED: "A person added it with its result.",
        Origin.ENQUEUED: "A person added it to be tried.",
    }.get(found.origin, "Nothing is recorded.")


def _attempt(attempt: Attempt, now: datetime) -> AttemptLine:
    return AttemptLine(
        number=attempt.number,
        outcome=attempt.outcome or "running",
        where=f"{attempt.worker}, {attempt.device}",
        took=span((attempt.ended_at or now) - attempt.started_at),
        message=attempt.message or "",
        traceback=attempt.traceback or "",
        log_tail=attempt.log_tail or "",
    )
