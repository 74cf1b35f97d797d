"""Rank the finished trials. Each is a step."""

from app.domain.trial import Ranked
from app.storage import Transaction, studies, trials


def best(tx: Transaction, project: str, name: str, top: int) -> list[Ranked]:
    """Return the best configs of a study, best first. Raises StudyNotFound."""
    return trials.best(tx, studies.named(tx, project, name), top)


def best_of_all(tx: Transaction, project: str | None, top: int) -> list[Ranked]:
    """Return the best config of each study, those of the newest studies first."""
    return trials.best_of_all(tx, project, top)
