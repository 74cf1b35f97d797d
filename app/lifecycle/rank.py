"""Rank the finished trials. Each is a step."""

from app.domain.study import DEFAULT_PROJECT
from app.domain.trial import Ranked
from app.storage import Transaction, comparisons, studies, trials


def best(tx: Transaction, project: str, name: str, top: int) -> list[Ranked]:
    """Return the best configs of a study, best first. Raises StudyNotFound."""
    return trials.best(tx, studies.named(tx, project, name), top)


def best_of_all(
    tx: Transaction, project: str | None, top: int, comparison: str | None = None
) -> list[Ranked]:
    """Return the best config of each study, those of the newest studies first.

    Of the studies of comparisons those of the one that is named, which is of the project, or the usual one.
    Raises ComparisonNotFound.
    """
    if comparison is None:
        return trials.best_of_all(tx, project, top)
    of = comparisons.named(tx, project or DEFAULT_PROJECT, comparison).id
    return trials.best_of_all(tx, project, top, of)
