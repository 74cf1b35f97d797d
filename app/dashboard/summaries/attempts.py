"""How the number of a trial came about: its steps, and each of its attempts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.dashboard.summaries.known import BY_PEOPLE, Known
from app.dashboard.summaries.why import REMEDIES
from app.dashboard.values import many, place, span
from app.domain.study import Direction
from app.domain.trial import Attempt, Cause, Trial, TrialState
from thiessen.figures.text import short
from thiessen.search import Reasons

MOST_STEPS: Final = 5  # attempts told one by one


@dataclass(frozen=True)
class Step:
    """A step on the way to the result."""

    title: str
    says: str
    at: datetime | None = None


@dataclass(frozen=True)
class AttemptLine:
    """One execution of a trial."""

    number: int
    outcome: str
    state: str  # whose badge it has
    where: str
    took: str
    message: str
    next: str
    remedy: str
    traceback: str
    log_tail: str


def steps(known: Known) -> Iterator[Step]:
    """Return how the number came about."""
    found, study = known.trial, known.progress.study
    if found.turn is not None:
        reasons = Reasons.from_json(found.reasons) if found.reasons else None
        after = f", with {many(reasons.watermark, 'result')} known" if reasons else ""
        yield Step("Proposed", f"turn {found.turn} of the strategy{after}", found.created_at)
    else:
        yield Step("Added", BY_PEOPLE.get(found.origin, "by a program"), found.created_at)
    attempts = found.attempts
    if len(attempts) > MOST_STEPS:
        yield Step("Tried", f"{len(attempts)} attempts; the last {MOST_STEPS}:")
    for each in attempts[-MOST_STEPS:]:
        took = span((each.ended_at or known.now) - each.started_at)
        outcome = "runs" if each.outcome is None else each.outcome.replace("_", " ")
        where = place(each.worker, each.device)
        yield Step(f"Attempt {each.number}", f"on {where}: {outcome}, {took}", each.started_at)
    if attempts and attempts[-1].reports:
        last = attempts[-1].reports
        yield Step("Reported", f"{many(len(last), 'point')} kept, up to step {last[-1]['step']}")
    if found.value is not None and found.state is TrialState.SUCCEEDED:
        direction = "smaller" if study.spec.direction is Direction.MINIMIZE else "larger"
        late = "; it came late and counts" if found.cause is Cause.LATE else ""
        yield Step(
            f"Result {found.value}", f"{direction} is better{_against(known)}{late}", found.finished_at
        )
    elif found.state.is_terminal:
        yield Step(found.state.capitalize(), "no value that is ranked", found.finished_at)


def _against(known: Known) -> str:
    """Return how a result compares with what was expected of its config."""
    estimate = known.trial.reasons.get("estimate")
    if estimate is None or known.trial.loss is None:
        return ""
    apart = known.trial.loss - estimate
    if not apart:
        return "; just as estimated"
    return f"; {'worse' if apart > 0 else 'better'} than the estimate by {short(abs(apart))}"


def attempt_line(attempt: Attempt, known: Known) -> AttemptLine:
    """Return an attempt for a page."""
    outcome = attempt.outcome or "running"
    is_state = outcome in {state.value for state in TrialState}
    is_fine = outcome in {"succeeded", "released"}
    return AttemptLine(
        number=attempt.number,
        outcome=outcome.replace("_", " "),
        state="succeeded" if is_fine else outcome if is_state else "failed",
        where=place(attempt.worker, attempt.device),
        took=span((attempt.ended_at or known.now) - attempt.started_at),
        message=attempt.message or "",
        next=_next(attempt, known.trial),
        remedy=REMEDIES.get(outcome, ""),
        traceback=attempt.traceback or "",
        log_tail=attempt.log_tail or "",
    )


def _next(attempt: Attempt, found: Trial) -> str:
    """Return what happened after an attempt."""
    if attempt.late is not None:
        return (
            "Its result came late and counts."
            if attempt.late["counts"]
            else "Its result came too late to count."
        )
    if attempt.outcome is None or attempt.outcome in {"succeeded", "diverged", "pruned", "cancelled"}:
        return ""
    later = [each.number for each in found.attempts if each.number > attempt.number]
    if later:
        return f"It was tried again: attempt {later[0]}."
    return {
        TrialState.QUEUED: "It waits to be tried again.",
        TrialState.FAILED: "It was not tried again.",
        TrialState.CANCELLED: "A person ended it afterwards.",
    }.get(found.state, "")
