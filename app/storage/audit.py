"""The audit: what was done to the server itself, by whom. Studies and trials have their events."""

from typing import Any

from sqlalchemy import insert, select

from app.domain.access import Deed
from app.storage.store import Transaction
from app.storage.tables import audit, now


def append(tx: Transaction, who: str, action: str, subject: str, data: dict[str, Any] | None = None) -> None:
    """Write a line, in the transaction of what it tells."""
    tx.execute(insert(audit).values(at=now(), who=who, action=action, subject=subject, data=data))


def newest(tx: Transaction, *, before: int | None, limit: int) -> list[Deed]:
    """Return the last lines, or the last ones before a line, the newest first."""
    statement = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(audit.c.id < before)
    return [Deed(**row) for row in tx.execute(statement).mappings()]
