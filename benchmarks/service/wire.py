"""HTTP by hand over one kept connection: next to nothing of a core is spent beside the server's part.

The only file that knows how the service's answers look.
"""

import asyncio
import json
import socket
from typing import Any, Final, Self

HOST: Final = "127.0.0.1"
NOTHING: Final = 204
END: Final = b"\r\n\r\n"
STRATEGIES: Final[dict[str, Any]] = {
    "random": "random",
    "thesis": {"name": "biased_random", "preset": "thesis"},
    "adaptive": "biased_random",  # the default; each of its proposals judges 256 candidates
}


class Refused(Exception):  # noqa: N818 - says what happened
    """An answer that is no success."""

    def __init__(self, status: int, answer: bytes) -> None:
        super().__init__(f"{status} {answer[:300].decode(errors='replace')}")
        self.status = status


class Wire:
    """One connection, one request at a time. A connection that the server closed meanwhile is opened anew."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._socket.close()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer, read as JSON; None when it is empty. Raises Refused."""
        return read(*self.exchange(method, path, body))

    def exchange(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Return the status and the bytes of the answer."""
        sent = request(method, path, body)
        try:
            return self._exchange(sent)
        except ConnectionError:
            self._socket.close()
            self._connect()
            return self._exchange(sent)

    def _connect(self) -> None:
        self._socket = socket.create_connection((HOST, self._port), timeout=600)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def _exchange(self, sent: bytes) -> tuple[int, bytes]:
        self._socket.sendall(sent)
        while (end := self._received.find(END)) < 0:
            self._receive()
        status, length = head(self._received[:end])
        whole = end + len(END) + length
        self._receive_to(whole)
        answer, self._received = self._received[end + len(END) : whole], self._received[whole:]
        return status, answer

    def _receive(self) -> None:
        self._receive_to(len(self._received) + 1)

    def _receive_to(self, length: int) -> None:
        """Receive until there is so much; put together once, as an answer may have megabytes."""
        parts, there = [self._received], len(self._received)
        while there < length:
            part = self._socket.recv(1 << 20)
            if not part:
                raise ConnectionError("the server closed the connection")
            parts.append(part)
            there += len(part)
        self._received = b"".join(parts)


class PatientWire:
    """The same for an event loop, where a thousand of them wait at once."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.connections = 0  # opened so far

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer, read as JSON; None when it is empty. Raises Refused."""
        sent = request(method, path, body)
        try:
            return read(*await self._exchange(sent))
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            return read(*await self._exchange(sent))

    async def _exchange(self, sent: bytes) -> tuple[int, bytes]:
        if self._reader is None or self._writer is None or self._reader.at_eof():
            self._reader, self._writer = await asyncio.open_connection(HOST, self._port)
            self.connections += 1
        self._writer.write(sent)
        status, length = head((await self._reader.readuntil(END))[: -len(END)])
        return status, await self._reader.readexactly(length)

    def close(self) -> None:
        """Let go of the connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


def request(method: str, path: str, body: Any) -> bytes:
    """Return the bytes of a request."""
    content = b"" if body is None else json.dumps(body).encode()
    about = f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
    return f"{about}Content-Length: {len(content)}\r\n\r\n".encode() + content


def head(received: bytes) -> tuple[int, int]:
    """Return the status of an answer and the length of its body."""
    lines = received.lower().split(b"\r\n")
    lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
    return int(lines[0].split()[1]), lengths[0] if lengths else 0


def read(status: int, answer: bytes) -> Any:
    """Return an answer as JSON. Raises Refused."""
    if not 200 <= status < 300:
        raise Refused(status, answer)
    return json.loads(answer) if answer else None


def study_spec(name: str, strategy: str, max_trials: int = 1_000_000) -> dict[str, Any]:
    """Return what creates a study over the space of the benchmark."""
    from benchmarks.service.space import SPACE

    return {
        "name": name, "task": "bowl", "space": SPACE, "strategy": STRATEGIES[strategy],
        "max_trials": max_trials,
    }  # fmt: skip


def lease_request(worker: str, number: int) -> dict[str, Any]:
    """Return what asks for a trial."""
    return {
        "worker": worker, "incarnation": worker, "request_id": f"{worker}-{number}", "tasks": ["bowl"],
    }  # fmt: skip


def leases_of(answer: Any) -> list[dict[str, Any]]:
    """Return the leases of an answer to POST /leases."""
    if answer is None:
        return []
    return answer.get("leases", [answer])


def next_cursor(page: dict[str, Any]) -> str | None:
    """Return where the next page of a list begins, None after the last."""
    following: str | None = page["next"]
    return following


def complete(lease: dict[str, Any], loss: float) -> tuple[str, str, dict[str, float]]:
    """Return the request that ends a lease with a result."""
    return "POST", f"/api/v1/leases/{lease['lease_id']}/complete", {"loss": loss}
