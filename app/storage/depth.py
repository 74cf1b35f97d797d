"""How much is waiting and how much is under way."""

from sqlalchemy import func, select

from app.domain.study import StudyState
from app.domain.trial import TrialState
from app.storage.store import Transaction
from app.storage.studies import IS_LEASING, WANTS
from app.storage.tables import studies

OPEN = (TrialState.QUEUED, TrialState.RUNNING)


def of_active_studies(tx: Transaction) -> dict[str, int]:
    """Return how many trials are in each state that is not an end."""
    sums = [func.coalesce(func.sum(studies.c[state.value]), 0) for state in OPEN]
    counted = tx.execute(select(*sums).where(studies.c.state == StudyState.ACTIVE)).one()
    return dict(zip(OPEN, map(int, counted), strict=True))


def waiting_studies(tx: Transaction) -> int:
    """Return how many studies have something to train, and none of it under way."""
    waiting = select(func.count()).select_from(studies).where(IS_LEASING, WANTS, studies.c.running == 0)
    return int(tx.execute(waiting).scalar_one())
