"""The only room that speaks SQL."""

from app.storage.group import if_undone
from app.storage.open import open_store
from app.storage.store import DatabaseUnavailable, ReadTooLong, Step, Store, Transaction

__all__ = ["DatabaseUnavailable", "ReadTooLong", "Step", "Store", "Transaction", "if_undone", "open_store"]
