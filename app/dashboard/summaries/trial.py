"""One trial: why it was proposed, where it is now and why, how its number came about, its attempts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.dashboard.actions import Action
from app.dashboard.summaries import trials as of_trials
from app.dashboard.summaries.attempts import AttemptLine, Step, attempt_line, steps
from app.dashboard.summaries.known import MOST_RANKED, Known, known_of
from app.dashboard.summaries.lines import Best, best_of
from app.dashboard.summaries.now import Card, card
from app.dashboard.summaries.proposal import Proposal, proposal
from app.dashboard.summaries.trial_actions import trial_actions
from app.dashboard.summaries.trials import Swatch
from app.dashboard.values import Shown, brief, many, place, shown, span
from app.domain.trial import Trial, TrialState
from app.house import House
from thiessen.figures.text import short


@dataclass(frozen=True)
class TrialPage:
    """One trial: its config beside the best one, why it was proposed, where it is, and its attempts."""

    study: str
    number: int
    state: str
    says: str
    value: str
    exact: str
    swatch: Swatch | None
    notes: str
    proposal: Proposal
    card: Card | None
    steps: list[Step]
    config: Shown
    columns: list[tuple[str, int]]  # other trials that its config stands beside
    rows: list[tuple[str, list[str]]]  # name, and its value in each column
    best: Best | None
    attempts: list[AttemptLine]
    most_attempts: int
    environment: list[tuple[str, str]]
    seed: int
    last: int  # the number of the newest trial
    has_curve: bool
    is_live: bool
    after: int  # the number of the last event that this shows
    actions: list[Action]


def read_trial(house: House, project: str, name: str, number: int) -> TrialPage:
    """Return a trial. Raises StudyNotFound, TrialNotFound."""
    known = house.store.read(partial(known_of, project=project, name=name, number=number))
    progress, found = known.progress, known.trial
    scale = house.figures.scale(progress.study)
    others = _others(known)
    rows = [
        (each, [_held(config, each) for config in (found.config, *(config for _, _, config in others))])
        for each in progress.space.dimensions
    ]
    return TrialPage(
        study=name,
        number=number,
        state=found.state,
        says=_told(known),
        value=short(found.value),
        exact="" if found.value is None else str(found.value),
        swatch=of_trials.swatch(found.state, found.loss, scale),
        notes=found.notes,
        proposal=proposal(known),
        card=card(known),
        steps=list(steps(known)),
        config=shown(progress.space.dimensions, found.config),
        columns=[(title, other) for title, other, _ in others],
        rows=rows,
        best=best_of(progress),
        attempts=[attempt_line(each, known) for each in found.attempts],
        most_attempts=max(progress.study.spec.max_attempts, len(found.attempts)),
        environment=_environment(found),
        seed=found.seed,
        last=progress.study.standing.trials - 1,
        has_curve=any(each.reports for each in found.attempts),
        is_live=not found.state.is_terminal,
        after=progress.study.standing.events,
        actions=trial_actions(progress.study, found),
    )


def _others(known: Known) -> list[tuple[str, int, Mapping[str, Any]]]:
    """Return the best and the nearest trial with their configs, unless this is one of them."""
    best, neighbour = known.progress.best, known.neighbour
    found: list[tuple[str, int, Mapping[str, Any]]] = []
    if best is not None and best.number != known.trial.number:
        found.append(("best", best.number, best.config))
    if neighbour is not None and neighbour.number not in {number for _, number, _ in found}:
        found.append(("nearest", neighbour.number, neighbour.config))
    return found


def _held(config: Mapping[str, Any], name: str) -> str:
    return brief(config[name]) if name in config else "–"  # noqa: RUF001 - the sign for what is not there


def _told(known: Known) -> str:
    """Return what has come of a trial in a sentence."""
    found = known.trial
    tried = many(len(found.attempts), "attempt")
    kind = "Value" if found.state is TrialState.SUCCEEDED else "Last value"
    parts = ["No value" if found.value is None else f"{kind} {short(found.value)}"]
    if known.better is not None:
        succeeded = known.progress.study.standing.succeeded
        rank = f"rank {known.better + 1} of {succeeded:,}"
        parts.append(
            rank if known.better < MOST_RANKED else f"not among the best {MOST_RANKED} of {succeeded:,}"
        )
    told = f"{', '.join(parts)}. "
    if not found.attempts:
        return told + "It was never tried." if found.state.is_terminal else told + "Nobody has tried it yet."
    last = found.attempts[-1]
    took = span((last.ended_at or known.now) - last.started_at)
    verb = "Trained" if last.ended_at else "Trains"
    return f"{told}{verb} for {took} on {place(last.worker, last.device)}; {tried} in all."


def _environment(found: Trial) -> list[tuple[str, str]]:
    """Return what is known of where the last attempt ran."""
    if not found.attempts:
        return []
    last = found.attempts[-1]
    told = {
        "worker": last.worker,
        "device": last.device,
        "GPUs": str(last.gpus),
        "task version": last.task_version or "",
        "incarnation": last.incarnation,
    } | dict(last.environment)
    return [(name, value) for name, value in told.items() if value]
