"""Some trials of a study side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.dashboard.summaries import trials as of_trials
from app.dashboard.summaries.trials import Asked, Row
from app.dashboard.values import Shown, brief, shown
from app.domain.study import Progress
from app.domain.trial import TrialLine
from app.house import House
from app.lifecycle import submit
from app.storage import Transaction, attempts, pages
from app.storage.attempts import Latest


@dataclass(frozen=True)
class Compared:
    """Trials side by side: a column for each, a line for each dimension."""

    study: str
    trials: list[Row]
    asked: str  # the part of an address that keeps them chosen
    query: str  # of the figure of their curves
    lines: list[tuple[str, list[str], bool]]  # dimension, its value in each trial, whether those differ
    copies: list[tuple[int, Shown]]
    gone: list[int]  # numbers without a trial
    is_live: bool


def read_compared(house: House, project: str, name: str, numbers: Sequence[int]) -> Compared:
    """Return trials side by side. Raises StudyNotFound."""

    def at_once(tx: Transaction) -> tuple[Progress, list[TrialLine], dict[int, Latest]]:
        progress = submit.progress(tx, project, name)
        found = pages.numbered(tx, progress.study, numbers)
        return progress, found, attempts.latest_of(tx, progress.study.id, numbers)

    progress, found, latest = house.store.read(at_once)
    scale = house.figures.scale(progress.study)
    dimensions = [each for each in progress.space.dimensions if any(each in line.config for line in found)]
    lines = []
    for dimension in dimensions:
        values = [line.config.get(dimension, _NOTHING) for line in found]
        told = ["–" if value is _NOTHING else brief(value) for value in values]  # noqa: RUF001 - the sign for nothing
        lines.append((dimension, told, len({str(value) for value in values}) > 1))
    there = [line.number for line in found]
    return Compared(
        study=name,
        trials=of_trials.rows(progress, found, latest, [], scale),
        asked=Asked(chosen=there).query(),
        query="&".join(f"trials={number}" for number in there),
        lines=lines,
        copies=[(line.number, shown(dimensions, line.config)) for line in found],
        gone=[number for number in numbers if number not in there],
        is_live=any(not line.state.is_terminal for line in found),
    )


_NOTHING = object()
