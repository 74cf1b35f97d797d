"""What a client may take its time for: a connection that waits for it longer than that is ended.

Else a few slow clients, or one program that opens connections and says nothing, would use up what the server
may have open at once.
"""

from asyncio import TimerHandle, Transport
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEAD_SECONDS: Final = 20.0  # from its first byte, and from the connection, until its head is here
BODY_SECONDS: Final = 60.0
UNREAD_SECONDS: Final = 60.0  # while nothing of what waits for the client goes out


class Connection(HttpToolsProtocol):
    """Ends when its client dribbles a request, or reads nothing of the answer."""

    _sends: TimerHandle | None = None
    _reads: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Wait for a head."""
        super().connection_made(transport)
        self._wait_for_request(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head as soon as something of it is here."""
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        if self._sends is None and (cycle is None or cycle.response_complete):
            self._wait_for_request(HEAD_SECONDS)
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Wait for the body."""
        super().on_headers_complete()
        self._wait_for_request(BODY_SECONDS)

    def on_message_complete(self) -> None:
        """Wait for nothing more of the client: it is its turn to wait."""
        super().on_message_complete()
        self._stop_waiting_for_request()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._reads = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        self._stop_waiting_for_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        super().connection_lost(exc)
        self._stop_waiting_for_request()
        self._stop_waiting_for_reader()

    def _wait_for_request(self, seconds: float) -> None:
        self._stop_waiting_for_request()
        self._sends = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        """End the connection, unless it is the server that does not take what the client sends."""
        if self.flow.read_paused:
            self._wait_for_request(BODY_SECONDS)
        else:
            self.transport.abort()

    def _stop_waiting_for_request(self) -> None:
        if self._sends is not None:
            self._sends.cancel()
        self._sends = None

    def _stop_waiting_for_reader(self) -> None:
        if self._reads is not None:
            self._reads.cancel()
        self._reads = None
