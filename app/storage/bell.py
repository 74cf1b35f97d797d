"""A bell for those who wait: rung in a step, heard after its commit."""

import logging
from collections.abc import Callable, Collection
from typing import Final

from sqlalchemy import Connection

Callback = Callable[[int | None], None]

CHANNEL: Final = "thiessen"
RUNG: Final = "rung"

log = logging.getLogger("thiessen.server")


def ring(tx: Connection, study_id: int) -> None:
    """Tell every listener, of every server on this database, once what this step wrote is committed."""
    if tx.dialect.name == "postgresql":
        tx.exec_driver_sql("SELECT pg_notify(%s, %s)", (CHANNEL, str(study_id)))
    else:
        tx.info.setdefault(RUNG, set()).add(study_id)


def take(tx: Connection) -> Collection[int]:
    """Return for which studies it was rung on this connection since this was asked last: SQLite's part."""
    rung: Collection[int] = tx.info.pop(RUNG, ())
    return rung


class Listeners:
    """Who is called when it rings."""

    def __init__(self) -> None:
        self._callbacks: dict[object, Callback] = {}

    def add(self, callback: Callback) -> Callable[[], None]:
        """Return what removes it again."""
        key = object()
        self._callbacks[key] = callback
        return lambda: self._callbacks.pop(key, None) and None

    def call(self, study_id: int | None) -> None:
        """Call each; one that fails is logged and keeps nobody from hearing."""
        for callback in list(self._callbacks.values()):
            try:
                callback(study_id)
            except Exception:
                log.exception("A listener to the bell failed.")
