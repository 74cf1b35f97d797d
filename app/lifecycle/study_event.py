"""What happened to a study itself, and not to one of its trials."""

from datetime import datetime
from typing import Any

from app.domain.study import Standing, StudyId
from app.storage import Transaction, events, studies
from app.storage.events import Happening


def tell_of_study(tx: Transaction, study_id: StudyId, kind: str, who: str, **data: Any) -> Standing:
    """Append an event of the study itself."""
    standing = studies.count(tx, study_id, events=1)
    written = {name: _written(value) for name, value in data.items()}
    events.append(tx, study_id, standing.events, Happening(kind=kind, who=who, data=written))
    return standing


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
