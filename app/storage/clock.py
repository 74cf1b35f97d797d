"""The database's clock."""

from datetime import datetime

from sqlalchemy import select

from app.storage.store import Transaction
from app.storage.tables import clock, milliseconds, now


def read(tx: Transaction) -> datetime:
    """Return the time by the database's clock."""
    time: datetime = tx.execute(select(now())).scalar_one()
    return time


def of_machine(tx: Transaction) -> int:
    """Return the milliseconds of the clock that the database has of its machine, without what tests add."""
    found: int = tx.execute(select(milliseconds() - clock.c.offset_milliseconds)).scalar_one()
    return found
