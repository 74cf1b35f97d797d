"""What every page says of a study: a line of a list, its progress, its best config."""

from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final

from app.dashboard.values import Shown, shown
from app.domain.study import Direction, Progress, Study
from app.domain.trial import Ranked, TrialState
from thiessen.figures.text import short
from thiessen.integrations import KNOWN
from thiessen.search.settings import in_words

ENDS: Final = [state for state in TrialState if state.is_terminal]


@dataclass(frozen=True)
class Part:
    """The trials of a study in one state: how many, and the part of its bar that they take, in percent."""

    state: str
    count: int
    begin: float
    width: float


@dataclass(frozen=True)
class Best:
    """The best config of a study."""

    number: int
    value: str
    exact: str
    config: Shown


@dataclass(frozen=True)
class StudyLine:
    """One study in a list."""

    name: str
    task: str
    strategy: str
    measure: str
    state: str
    reason: str | None
    finished: int
    wanted: int
    running: int
    parts: list[Part]
    eta: datetime | None
    waits_for: str | None
    best: Best | None


def study_line(progress: Progress) -> StudyLine:
    """Return a study as a line of a list."""
    study, counts = progress.study, progress.counts
    standing = study.standing
    return StudyLine(
        name=study.spec.name,
        task=study.spec.task,
        strategy=in_words(study.spec.strategy, KNOWN),
        measure=_measure(study),
        state=standing.state.value,
        reason=standing.reason,
        finished=sum(counts[state] for state in ENDS),
        wanted=_wanted(progress.study),
        running=counts[TrialState.RUNNING],
        parts=_parts(progress),
        eta=progress.eta,
        waits_for=progress.waits_for,
        best=best_of(progress),
    )


def _measure(study: Study) -> str:
    """Return what a study is about: by name, where its trials are judged by one that they report."""
    metric = "value" if study.spec.stopping is None else str(study.spec.stopping["metric"])
    return f"{metric}, {'smaller' if study.spec.direction is Direction.MINIMIZE else 'larger'} is better"


def _wanted(study: Study) -> int:
    """Return how many trials there will be; of a mirror that nobody knows, and it is those there are."""
    standing = study.standing
    if study.mirrors is not None:
        return standing.trials
    return max(standing.max_trials + standing.imported, standing.trials)


def _parts(progress: Progress) -> list[Part]:
    """Return the states that trials are in, those that have ended first."""
    counts, wanted = progress.counts, _wanted(progress.study)
    there = [state for state in (*ENDS, TrialState.RUNNING, TrialState.QUEUED) if counts[state]]
    widths = [round(100 * counts[state] / wanted, 3) for state in there]
    begins = accumulate(widths, initial=0.0)
    return [
        Part(state.value, counts[state], round(begin, 3), width)
        for state, width, begin in zip(there, widths, begins, strict=False)
    ]


def best_of(progress: Progress) -> Best | None:
    """Return the best config of a study, None before a trial has succeeded."""
    ranked: Ranked | None = progress.best
    if ranked is None:
        return None
    config = shown(progress.space.dimensions, ranked.config)
    return Best(ranked.number, short(ranked.value), str(ranked.value), config)
