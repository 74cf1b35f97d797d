"""Problems as pages: what happened and what to do, for a person whose browser asked for a page.

Every part of the server answers with a problem document. On its way to a browser it becomes a page, here and
nowhere else; programs, and whoever asks the API, get the document as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.dashboard.rendering import rendered
from app.dashboard.visit import Visit, visit_of
from app.domain.errors import ProjectNotFound
from thiessen.contract import Problem

KIND: Final = "application/problem+json"
OWN: Final = {b"content-type", b"content-length"}  # of the document
TITLES: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "Sign in first",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "This page takes no such request",
    HTTPStatus.CONFLICT: "This contradicts what is there",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "This is too much at once",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Something in this is wrong",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The server failed",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available now",
}


@dataclass(frozen=True)
class ProblemPage:
    """What happened, and where to go on from it."""

    title: str
    detail: str
    link: str  # relative
    to: str
    request_id: str | None


class ProblemPages:
    """Turns problem documents into pages for browsers that ask for pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_for_a_person(scope):
            await self.app(scope, receive, send)
            return
        started: Message | None = None
        document = bytearray()

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start" and _is_problem(message):
                started = message
            elif started is None:
                await send(message)
            else:
                document.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await _page(scope, started, bytes(document))(scope, receive, send)

        await self.app(scope, receive, answer)


def _is_for_a_person(scope: Scope) -> bool:
    return not scope["path"].startswith("/api/") and "text/html" in Headers(scope=scope).get("accept", "")


def _is_problem(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "") == KIND


def _page(scope: Scope, started: Message, document: bytes) -> ASGIApp:
    problem = Problem.model_validate_json(document)
    try:
        visit = visit_of(scope)
    except ProjectNotFound:
        visit = visit_of({**scope, "path_params": {}})
    if problem.type.endswith(ProjectNotFound.type):
        visit = replace(visit, home=visit.root)
    link, to = _way_on(problem, visit, scope["method"] == "GET")
    page = ProblemPage(
        title=TITLES.get(problem.status, problem.title),
        detail=problem.detail,
        link=link,
        to=to,
        request_id=problem.request_id,
    )
    answer = rendered("problem.html", page, visit, HTTPStatus(problem.status))
    answer.raw_headers += [header for header in started["headers"] if header[0].lower() not in OWN]
    return answer


def _way_on(problem: Problem, visit: Visit, is_read: bool) -> tuple[str, str]:  # noqa: FBT001 - it is of this file
    """Return where to go on, relative, and what that is called."""
    match problem.status:
        case HTTPStatus.UNAUTHORIZED:
            return f"{visit.root}login", "Sign in"
        case HTTPStatus.FORBIDDEN:
            return f"{visit.root}login", "See what your token is for"
        case HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.SERVICE_UNAVAILABLE if is_read:
            return "", "Try again"
        case HTTPStatus.UNPROCESSABLE_ENTITY if is_read:
            return "?", "The page without what was asked of it"
    return visit.home, "All studies"
