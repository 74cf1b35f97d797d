"""Remove what is not kept for ever: events and learning curves of studies that have rested for long.

A study that goes on keeps all of its own: early stopping looks at curves of trials long over. Trials,
attempts and observations are kept always, so that every study can be replayed.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from app.domain.study import StudyId
from app.storage import Store, Transaction, retention

Remove = Callable[[Transaction, StudyId, timedelta], bool]


def remove_old(store: Store, *, events: timedelta | None, curves: timedelta | None) -> None:
    """Remove what is older than these; None keeps it for ever. Many short steps: nobody waits for long."""
    if events is not None:
        for study_id in store.read(partial(retention.with_old_events, kept_for=events)):
            _remove_all(store, study_id, events, retention.remove_events)
    if curves is not None:
        for study_id in store.read(partial(retention.with_old_curves, kept_for=curves)):
            _remove_all(store, study_id, curves, retention.remove_curves)


def _remove_all(store: Store, study_id: StudyId, kept_for: timedelta, remove: Remove) -> None:
    while store.write(lambda tx: remove(tx, study_id, kept_for)):
        pass
