"""Requests that wait until there may be something to lease: they hold neither a thread nor a connection."""

import asyncio
from collections.abc import Callable

from app.storage import Store


class Waiting:
    """Wakes all who wait when the bell rings; begins in the event loop that it serves."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def listen(self, store: Store) -> Callable[[], None]:
        """Hear the bell from now on; return what ends that."""
        loop = asyncio.get_running_loop()

        def hear(study_id: int | None) -> None:
            del study_id  # each who waits looks for itself
            loop.call_soon_threadsafe(self._wake)

        return store.listen(hear)

    def _wake(self) -> None:
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()

    def ring(self) -> asyncio.Event:
        """Return what the next ring sets. Ask for it before looking whether there is something."""
        return self._rung


async def until(ring: asyncio.Event, closing: asyncio.Event, seconds: float) -> None:
    """Wait for a ring or the end of the server, so long at most."""
    waits = [asyncio.ensure_future(event.wait()) for event in (ring, closing)]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
