"""One study: how far it is, its best config, its figures and its trials, a tab for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.dashboard.actions import Action
from app.dashboard.summaries import trials as of_trials
from app.dashboard.summaries.lines import ENDS, StudyLine, study_line
from app.dashboard.summaries.search import MOST_PROPOSALS, Doing, doing
from app.dashboard.summaries.study_actions import study_actions
from app.dashboard.summaries.trials import Asked, Found, Table
from app.domain.study import Progress, StudyState
from app.house import House
from app.lifecycle import submit
from app.storage import Transaction, trials

NEWEST: Final = 12  # trials on the overview
TABS: Final[Mapping[str, tuple[str, ...]]] = {  # the figures of each
    "overview": ("landscape", "history", "slice", "parallel", "importance", "curves", "timeline"),
    "landscape": ("landscape",),
    "slices": ("slice", "parallel", "interaction"),
    "importance": ("importance",),
    "curves": ("curves", "distribution"),
    "timeline": ("timeline", "history"),
    "trials": (),
}
PAIRS: Final = frozenset({"landscape", "parallel", "interaction"})  # of two dimensions and more


@dataclass(frozen=True)
class StudyPage:
    """One study: how far it is, and what its tab shows."""

    study: StudyLine
    comparison: str | None  # that it is a search of
    tab: str
    tabs: list[str]
    says: str
    notes: str
    tags: list[str]
    dimensions: list[str]
    figures: list[str]
    chosen: Mapping[str, str]  # of the landscape
    doing: Doing | None
    table: Table | None
    is_live: bool
    after: int  # the number of the last event that this shows
    actions: list[Action]


def read_study(
    house: House, project: str, name: str, tab: str, *, asked: Asked, chosen: Mapping[str, str]
) -> StudyPage:
    """Return a tab of a study. Raises StudyNotFound."""
    limit = NEWEST if tab == "overview" else of_trials.MOST_TRIALS

    def at_once(tx: Transaction) -> tuple[Progress, Found | None, list[dict[str, Any]]]:
        progress = submit.progress(tx, project, name)
        found = of_trials.find(tx, progress, asked, limit) if tab in {"overview", "trials"} else None
        is_first = tab == "overview"
        return (
            progress,
            found,
            trials.latest_reasons(tx, progress.study.id, MOST_PROPOSALS) if is_first else [],
        )

    progress, found, latest = house.store.read(at_once)
    line, remarks, study = study_line(progress), progress.study.remarks, progress.study
    return StudyPage(
        study=line,
        comparison=study.comparison,
        tab=tab,
        tabs=list(TABS),
        says=f"Task {line.task}, searched by {line.strategy}, seed {study.spec.seed}.",
        notes=remarks.notes,
        tags=list(remarks.tags),
        dimensions=list(progress.space.dimensions),
        figures=_figures(progress, tab),
        chosen=chosen,
        doing=doing(progress, latest) if tab == "overview" else None,
        table=None if found is None else of_trials.table(progress, asked, found, house.figures.scale(study)),
        is_live=study.standing.state is StudyState.ACTIVE or line.running > 0,
        after=study.standing.events,
        actions=study_actions(study),
    )


def _figures(progress: Progress, tab: str) -> list[str]:
    """Return the figures of a tab that have something to show."""
    if not any(progress.counts[state] for state in ENDS):
        return []
    has_pairs = len(progress.space.dimensions) > 1
    return [name for name in TABS[tab] if has_pairs or name not in PAIRS]
