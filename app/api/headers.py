"""What stands in the head of every answer: what a browser may do with it, and which contract it keeps."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thiessen.contract import CONTRACT, CONTRACT_HEADER

ALWAYS: Final = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with none a browser would not say that our forms are ours
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (CONTRACT_HEADER.lower().encode(), str(CONTRACT).encode()),
]
NOTHING: Final = (
    b"content-security-policy",
    b"default-src 'none'; frame-ancestors 'none'",
)  # pages say their own
UNKEPT: Final = (b"cache-control", b"no-store")  # what the interface answers is true now, and for who asked


class SafeHeaders:
    """Adds them; what a route says of the same is its own business."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        unless_said = (NOTHING, UNKEPT) if scope["path"].startswith("/api/") else (NOTHING,)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", ())
                said = {name.lower() for name, _ in given}
                added = [header for header in unless_said if header[0] not in said]
                message["headers"] = [*given, *ALWAYS, *added]
            await send(message)

        await self.app(scope, receive, answer)
