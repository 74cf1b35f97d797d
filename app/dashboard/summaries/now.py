"""Where a trial is now and why, and what can be done about it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from app.dashboard.summaries.known import Known
from app.dashboard.summaries.waits import waits
from app.dashboard.summaries.why import cause_in_words, cut
from app.dashboard.values import many, place, span
from app.domain.trial import TrialState
from thiessen.figures.text import short


@dataclass(frozen=True)
class Card:
    """Where a trial is now, and why."""

    title: str
    says: list[str]
    next: str  # what can be done


def card(known: Known) -> Card | None:
    """Return where a trial is now and why, None where its value says it all."""
    state = known.trial.state
    if state not in _CARDS:
        return None
    title, says, remedy = _CARDS[state]
    return Card(title, list(says(known)), remedy)


def _waits(known: Known) -> Iterator[str]:
    if known.trial.cause is not None:
        yield f"It is tried again after {cause_in_words(known.trial.cause)}."
    yield from waits(known.progress, known.heard, known.ahead)


def _runs(known: Known) -> Iterator[str]:
    last = known.trial.attempts[-1]
    for_how_long = span(known.now - last.started_at)
    yield f"Attempt {last.number} runs on {place(last.worker, last.device)}, for {for_how_long}."
    yield from _reported(known) or ["It has reported nothing yet."]
    stopping = known.progress.study.spec.stopping
    if stopping is not None:
        rule = stopping["rule"].replace("_", " ")
        yield f"The {rule} rule watches its {stopping['metric']} and may end it early."
    yield "If its worker goes silent, its lease ends and another one takes it over."


def _was_pruned(known: Known) -> Iterator[str]:
    yield _message(known) or "It was ended early; by which comparison is not recorded."
    yield from _reported(known)


def _diverged(known: Known) -> Iterator[str]:
    yield f"Its value was {_message(known) or 'not finite'}."
    yield from _reported(known)
    yield "The search takes that for the worst there is near this config."


def _was_cancelled(known: Known) -> Iterator[str]:
    attempts = known.trial.attempts
    when = f"in attempt {attempts[-1].number}" if attempts else "before it was tried"
    yield f"A person ended it {when}, for good."


def _failed(known: Known) -> Iterator[str]:
    spec, found = known.progress.study.spec, known.trial
    message = _message(known)
    said = f": {cut(message)}" if message else ""
    yield f"{cause_in_words(found.cause).capitalize() or 'No result'}{said}."
    retried = ", ".join(cause_in_words(each) for each in spec.retry) or "nothing"
    yield f"Up to {many(spec.max_attempts, 'attempt')} are made, again after {retried}."
    yield f"It had {len(found.attempts)} and gets no more by itself; the study goes on with other configs."


def _message(known: Known) -> str:
    attempts = known.trial.attempts
    return (attempts[-1].message or "") if attempts else ""


def _reported(known: Known) -> list[str]:
    """Return the last that its last attempt reported, as a sentence."""
    reports = known.trial.attempts[-1].reports if known.trial.attempts else ()
    if not reports:
        return []
    last, stopping = reports[-1], known.progress.study.spec.stopping
    metric = None if stopping is None else stopping["metric"]
    names = [metric] if metric in last["metrics"] else list(last["metrics"])[:3]
    told = ", ".join(f"{name} {short(float(last['metrics'][name]))}" for name in names)
    return [f"Its last report, at step {last['step']}: {told}."]


_CARDS: Final[Mapping[TrialState, tuple[str, Callable[[Known], Iterator[str]], str]]] = {
    TrialState.QUEUED: ("Why it waits", _waits, "Cancel it, or add a worker that meets its needs."),
    TrialState.RUNNING: ("How it goes", _runs, "Cancel it if you know better."),
    TrialState.PRUNED: (
        "Why it was pruned", _was_pruned, "Add the config again to a study without early stopping.",
    ),
    TrialState.DIVERGED: (
        "Why it diverged", _diverged, "Nothing needs to be done: it is a fact about the config.",
    ),
    TrialState.FAILED: (
        "Why it failed, and what happens next", _failed, "Have it tried again once that is mended.",
    ),
    TrialState.CANCELLED: ("Why it was cancelled", _was_cancelled, "Add its config again."),
}  # fmt: skip
