"""Signing in: a person gives a token once, and a cookie keeps it for as long as the browser is open."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from app.dashboard.rendering import rendered
from app.dashboard.summaries.settings import in_words
from app.dashboard.visit import TheVisit
from app.domain.access import Scope
from app.domain.errors import Refusal, TooManyRequests
from app.gate import COOKIE, Gate, address_of

MOST_TEXT = 10_000  # bytes of the form

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Login:
    """The page that asks for a token, or says whose has been given."""

    target: str  # the path to go to afterwards
    name: str | None = None
    scopes: Sequence[tuple[str, str]] = ()  # of the token, with what each is for
    project: str | None = None  # the only one that it is for
    wrong: str | None = None
    is_needed: bool = True


@router.get("/login")
async def ask(request: Request, visit: TheVisit, next: str = "/") -> Response:  # noqa: A002 - the parameter's name in the URL
    gate: Gate = request.app.state.gate
    token = request.cookies.get(COOKIE)
    page = Login(_local(next), is_needed=gate.tokens_required)
    if token is not None and gate.tokens_required:
        with suppress(Refusal):  # has expired or was revoked: ask for another
            who = await gate.identify(token, address_of(request.scope))
            page = replace(page, name=who.name, scopes=in_words(who.scopes), project=who.project)
    return rendered("login.html", page, visit)


@router.post("/login")
async def sign_in(request: Request, visit: TheVisit) -> Response:
    form = parse_qs((await request.body())[:MOST_TEXT].decode(errors="replace"))
    target, token = _local(form.get("next", ["/"])[0]), form.get("token", [""])[0].strip()
    gate: Gate = request.app.state.gate
    try:
        principal = await gate.identify(token, address_of(request.scope))
    except Refusal as refusal:
        late = isinstance(refusal, TooManyRequests)
        status = HTTPStatus.TOO_MANY_REQUESTS if late else HTTPStatus.UNAUTHORIZED
        return rendered("login.html", Login(target, wrong=str(refusal)), visit, status)
    if not principal.may(Scope.READ):
        wrong = f"Token {principal.name!r} is not for reading; the dashboard needs the scope read."
        return rendered("login.html", Login(target, wrong=wrong), visit, HTTPStatus.FORBIDDEN)
    answer = RedirectResponse(f".{target}", HTTPStatus.SEE_OTHER)  # relative: behind a proxy's prefix too
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return answer


@router.post("/logout")
async def sign_out() -> Response:
    answer = RedirectResponse("./login", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def _local(target: str) -> str:
    """Return where to go after signing in, if it is here: nobody is sent to another site."""
    is_here = target.startswith("/") and not target.startswith("//") and "\\" not in target
    return target if is_here and target.isprintable() else "/"
