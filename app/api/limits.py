"""What every request must keep to, before any route sees it."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem
from thiessen.contract import CONTRACT, CONTRACT_HEADER

LARGEST_BODY: Final = 2_000_000  # bytes: a space of 256 dimensions, or 1,000 points of 50 metrics
_CONTRACT_HEADER: Final = CONTRACT_HEADER.lower().encode()


class KnownHost:
    """Answers only to names it knows: a page elsewhere that points its own name at us is refused with 400."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "*" in self.names or _host(scope) in self.names:
            await self.app(scope, receive, send)
            return
        detail = f"This server does not answer to {_host(scope)!r}. If it should, set THIESSEN_ALLOWED_HOSTS."
        await problem(HTTPStatus.BAD_REQUEST, "unknown-host", detail)(scope, receive, send)


class KnownContract:
    """Refuses with 426 what was written for a contract that this server does not keep."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.kept = kept(CONTRACT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = _contract(scope) if scope["type"] == "http" else None
        if said is None or said in self.kept:
            await self.app(scope, receive, send)
            return
        detail = (
            f"This server keeps contract {CONTRACT}, the request says {said.decode('latin-1')[:20]!r}. "
            "Upgrade the older side: pip install --upgrade thiessen, and thiessen db upgrade for a server."
        )
        await problem(HTTPStatus.UPGRADE_REQUIRED, "contract-unknown", detail)(scope, receive, send)


class BodyLimit:
    """Refuses bodies above `LARGEST_BODY` with 413, counted as they arrive."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = bytearray()
        message: Message = {"more_body": True}
        while message.get("more_body", False):
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if len(body) > LARGEST_BODY:
                detail = f"The body is larger than {LARGEST_BODY} bytes. Send less at once."
                refusal = problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", detail)
                await refusal(scope, receive, send)
                return
        await self.app(scope, _once(bytes(body), receive), send)


def _host(scope: Scope) -> str:
    """Return the Host header without its port; an IPv6 address keeps its brackets."""
    host = Headers(scope=scope).get("host", "").lower()
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def kept(contract: int) -> set[bytes]:
    """Return the contracts that a server of this one takes: it and the one before it, as in the header."""
    return {str(number).encode() for number in (contract - 1, contract) if number > 0}


def _contract(scope: Scope) -> bytes | None:
    """Return the number in the header, or None: who does not say is taken as is."""
    return next((value for name, value in scope["headers"] if name == _CONTRACT_HEADER), None)


def _once(body: bytes, receive: Receive) -> Receive:
    """Hand out the body that was read, then whatever follows it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
