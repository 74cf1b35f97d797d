"""Since when this server could have heard its workers.

A server that was down, or without its database, has heard no heartbeat: silence then says nothing about a
worker. So nothing expires before the workers have had one lease length to speak up.
"""

from datetime import datetime, timedelta

from app.storage import Store, clock


class Hearing:
    """Begins when it is made, and again after each interruption."""

    def __init__(self, store: Store, lease_for: timedelta) -> None:
        self._store = store
        self._lease_for = lease_for
        self._deaf_until: datetime | None = store.read(clock.read) + lease_for

    async def deaf_until(self) -> datetime:
        """Return the time, by the database's clock, before which no lease may be taken away."""
        if self._deaf_until is None:
            self._deaf_until = await self._store.seen(clock.read) + self._lease_for
        return self._deaf_until

    def interrupt(self) -> None:
        """The database was away: heartbeats may have been missed."""
        self._deaf_until = None
