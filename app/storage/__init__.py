"""The only room that speaks SQL."""

from app.storage.store import DatabaseUnavailable, Step, Store, Transaction, open_store

__all__ = ["DatabaseUnavailable", "Step", "Store", "Transaction", "open_store"]
