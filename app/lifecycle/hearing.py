"""Since when this server could have heard its workers.

A server that was down, or without its database, has heard no heartbeat: silence then says nothing about a
worker. The same is true after its machine slept, or after the database's clock was set. So nothing expires
before the workers have had one lease length to speak up.
"""

from datetime import datetime, timedelta
from typing import Final

from app.storage import Store, clock

SHORTEST_GAP: Final = timedelta(seconds=5)  # between two looks that are a second apart


class Hearing:
    """Begins when it is made, and again after each interruption."""

    def __init__(self, store: Store, lease_for: timedelta) -> None:
        self._store = store
        self._lease_for = lease_for
        self._deaf_until: datetime | None = store.read(clock.read) + lease_for
        self._gap = max(
            lease_for / 3, SHORTEST_GAP
        )  # who sends heartbeats at this pace loses nothing by less
        self._looked_at: int | None = None

    async def deaf_until(self) -> datetime:
        """Return the time, by the database's clock, before which no lease may be taken away."""
        if self._deaf_until is None:
            self._deaf_until = await self._store.seen(clock.read) + self._lease_for
        return self._deaf_until

    async def look(self) -> None:
        """Notice that the clock leapt since the last look, which is to be a moment ago."""
        looked_at, self._looked_at = self._looked_at, await self._store.seen(clock.of_machine)
        if looked_at is not None and abs(self._looked_at - looked_at) > self._gap / timedelta(milliseconds=1):
            self.interrupt()

    def interrupt(self) -> None:
        """Heartbeats may have been missed."""
        self._deaf_until = None
