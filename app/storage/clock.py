"""The database's clock."""

from datetime import datetime

from sqlalchemy import select

from app.storage.store import Transaction
from app.storage.tables import now


def read(tx: Transaction) -> datetime:
    """Return the time by the database's clock."""
    time: datetime = tx.execute(select(now())).scalar_one()
    return time
