"""Why a trial is where it is, in a line; and of an attempt that broke, what can be done."""

from collections.abc import Callable, Mapping
from typing import Final

from app.dashboard.values import many, place, span
from app.domain.study import Spec
from app.domain.trial import Cause, Origin, TrialLine, TrialState
from app.storage.attempts import Latest

CAUSES: Final[Mapping[str, str]] = {
    Cause.ERROR: "an error",
    Cause.OUT_OF_MEMORY: "out of memory",
    Cause.STALLED: "a task that said nothing for too long",
    Cause.TIME_LIMIT: "the time limit",
    Cause.LOST: "a lost worker",
    Cause.RELEASED: "a worker that gave it back",
    Cause.ATTEMPTS_USED_UP: "a lost worker at the last attempt",
    Cause.RETRIED: "a person had it tried again",
    Cause.LATE: "a result that came late",
}
REMEDIES: Final[Mapping[str, str]] = {
    Cause.ERROR: "The traceback says where. Mend the task, then have the trial tried again.",
    Cause.OUT_OF_MEMORY: (
        "Ask for more memory (requires.gpu_memory_gb in the next study), or search smaller batches or models."
    ),
    Cause.STALLED: "It said nothing for longer than its worker waits. Report more often, or allow more.",
    Cause.TIME_LIMIT: "It took longer than its worker allows. Allow more time, or search smaller models.",
    Cause.LOST: "Its worker was not heard any more. Look at that machine; the trial itself may be fine.",
}
LONGEST: Final = 120  # characters of a message in a line


def why(line: TrialLine, latest: Latest | None, spec: Spec, waits_for: str | None) -> str:
    """Return why a trial is where it is."""
    if line.state is TrialState.QUEUED:
        return _waits(line, waits_for)
    if line.origin is Origin.IMPORTED and not line.attempts:
        return "a person added it with its result"
    if line.origin is Origin.MEMOISED:
        return "this config had been tried: its result was taken"
    return _WHY[line.state](line, latest, spec)


def cause_in_words(cause: str | None) -> str:
    """Return a cause as people say it."""
    return CAUSES.get(cause or "", (cause or "").replace("_", " "))


def cut(text: str) -> str:
    """Return the first line of a text, if need be only its beginning."""
    first = text.strip().partition("\n")[0]
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"


def _waits(line: TrialLine, waits_for: str | None) -> str:
    again = ""
    if line.cause is not None:
        again = (
            f"again after {cause_in_words(line.cause)}: "
            if line.cause is not Cause.RETRIED
            else "tried again: "
        )
    return again + (waits_for or "waits for the next free slot")


def _runs(line: TrialLine, latest: Latest | None, spec: Spec) -> str:
    del spec
    again = f", after {cause_in_words(line.cause)}" if line.cause is not None else ""
    if latest is None:
        return f"attempt {line.attempts}{again}"
    how_far = f"step {latest.last_step} so far" if latest.last_step >= 0 else "nothing reported yet"
    return f"attempt {line.attempts} on {place(latest.worker, latest.device)}: {how_far}{again}"


def _succeeded(line: TrialLine, latest: Latest | None, spec: Spec) -> str:
    del spec
    told = "its result came late" if line.cause is Cause.LATE else "finished"
    if latest is None or latest.ended_at is None:
        return told
    where = f" on {place(latest.worker, latest.device)} in {span(latest.ended_at - latest.started_at)}"
    return told + where + (f", at attempt {line.attempts}" if line.attempts > 1 else "")


def _pruned(line: TrialLine, latest: Latest | None, spec: Spec) -> str:
    """Return what the rule compared; a worker may also have ended the trial by itself."""
    del line
    if latest is not None and latest.message:
        return latest.message.removeprefix("Stop: ").rstrip(".")
    by = (
        "its worker ended it early"
        if spec.stopping is None
        else f"ended early, as the rule is {spec.stopping['rule']}"
    )
    return by + _after(latest)


def _failed(line: TrialLine, latest: Latest | None, spec: Spec) -> str:
    said = cause_in_words(line.cause) or "it gave no result"
    if latest is not None and latest.message:
        said += f": {cut(latest.message)}"
    return f"{said} ({many(line.attempts, 'attempt')} of {max(spec.max_attempts, line.attempts)})"


def _after(latest: Latest | None) -> str:
    return f" after step {latest.last_step}" if latest is not None and latest.last_step >= 0 else ""


def _diverged(line: TrialLine, latest: Latest | None, spec: Spec) -> str:
    del line, spec
    said = latest.message if latest and latest.message else "not finite"
    return f"its value was {said}{_after(latest)}"


def _cancelled(line: TrialLine, latest: Latest | None, spec: Spec) -> str:
    del latest, spec
    return "a person ended it" + (f" in attempt {line.attempts}" if line.attempts else " before it was tried")


_WHY: Final[Mapping[TrialState, Callable[[TrialLine, Latest | None, Spec], str]]] = {
    TrialState.RUNNING: _runs,
    TrialState.SUCCEEDED: _succeeded,
    TrialState.PRUNED: _pruned,
    TrialState.DIVERGED: _diverged,
    TrialState.FAILED: _failed,
    TrialState.CANCELLED: _cancelled,
}
