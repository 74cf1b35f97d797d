"""The only room that speaks SQL."""

from app.storage.open import open_store
from app.storage.store import DatabaseUnavailable, ReadTooLong, Step, Store, Transaction

__all__ = ["DatabaseUnavailable", "ReadTooLong", "Step", "Store", "Transaction", "open_store"]
