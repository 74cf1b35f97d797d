"""Rank the finished trials of a study."""

from app.domain.trial import Ranked
from app.storage import Store, studies, trials


def best(store: Store, name: str, top: int) -> list[Ranked]:
    """Return the best configs of a study, best first. Raises StudyNotFound."""
    return store.read(lambda tx: trials.best(tx, studies.named(tx, name), top))
