"""What every request gets, whatever answers it: an id, a line in the log, an answer even to a fault."""

import logging
import re
from http import HTTPStatus
from secrets import token_hex
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import logs, meters
from app.api.problems import problem

CLIENT_LEFT: Final = 499  # the status in the log of a request whose client did not wait for its answer
PROBES: Final = {"/healthz", "/readyz", "/metrics"}  # asked every few seconds: logged at debug
PROJECT: Final = "{project}"
OTHER: Final = "other"  # the route of a request that none of ours answers

log = logging.getLogger("thiessen.server")
access = logging.getLogger("thiessen.access")

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class Watched:
    """Outermost: names the request, tells what came of it, and answers for a fault that nobody else cured."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        name = _name(scope)
        named = logs.request_id.set(name)
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", name.encode())]
            await send(message)

        try:
            await self.app(scope, receive, answer)
        except Exception:
            log.exception("Failed at %s %s.", scope["method"], route_of(scope))
            if not status:
                await _fault(scope)(scope, receive, answer)
        finally:
            _tell(scope, route_of(scope), status or CLIENT_LEFT, perf_counter() - began)
            logs.request_id.reset(named)


def route_of(scope: Scope) -> str:
    """Return the template that the path matched: nothing of it is what somebody has made up.

    A router that was included under a prefix may know its own part only; the path has the rest, in which
    nothing but the project at its end has a name.
    """
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return OTHER
    parts = scope["path"].split("/")
    prefix = parts[: len(parts) - template.count("/")]
    if PROJECT not in template and "project" in scope.get("path_params", {}):
        prefix[-1] = PROJECT
    return "/".join(prefix) + template


def _name(scope: Scope) -> str:
    """Return the id that the client or a proxy gave the request, if it is fit for a log, else a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    text: str = given.decode("latin-1")
    return text if _ID.fullmatch(text) else token_hex(8)


def _tell(scope: Scope, route: str, status: int, seconds: float) -> None:
    meters.answered(scope["method"], route, status, seconds)
    level = logging.DEBUG if route in PROBES else logging.INFO
    if not access.isEnabledFor(level):
        return
    fields = {
        "method": scope["method"],
        "route": route,
        "status": status,
        "milliseconds": round(1000 * seconds, 1),
        "who": scope.get("state", {}).get("who", "anonymous"),
    }
    access.log(
        level, "%(method)s %(route)s %(status)d in %(milliseconds).1f ms for %(who)s", fields, extra=fields
    )


def _fault(scope: Scope) -> ASGIApp:
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal-error",
        f"The server failed at {scope['method']} {scope['path']}. Its log says why; please report it.",
    )
