"""How much is waiting and how much is under way."""

from sqlalchemy import func, select

from app.domain.study import StudyState
from app.domain.trial import TrialState
from app.storage.store import Transaction
from app.storage.tables import studies, trials

OPEN = (TrialState.QUEUED, TrialState.RUNNING)


def of_active_studies(tx: Transaction) -> dict[str, int]:
    """Return how many trials are in each state that is not an end."""
    statement = (
        select(trials.c.state, func.count().label("trials"))
        .join(studies, studies.c.id == trials.c.study_id)
        .where(trials.c.state.in_(OPEN), studies.c.state == StudyState.ACTIVE)
        .group_by(trials.c.state)
    )
    counted = {row.state: row.trials for row in tx.execute(statement)}
    return {state: counted.get(state, 0) for state in OPEN}
