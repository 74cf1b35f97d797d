"""Before any route, and before a body is read: who asks, how often, and from where."""

from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlsplit

from fastapi import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import problem, refused, unavailable
from app.domain.access import ANONYMOUS, Principal
from app.domain.errors import Refusal, Unauthorized
from app.gate import COOKIE, Gate, address_of, is_open
from app.storage import DatabaseUnavailable

READING: Final = {"GET", "HEAD", "OPTIONS"}
Headers = dict[bytes, bytes]


class Door:
    """Lets in who is known, puts the principal on the request, and turns away the rest."""

    def __init__(self, app: ASGIApp, gate: Gate, *, refuses_proxies: bool) -> None:
        self.app = app
        self.gate = gate
        self.refuses_proxies = refuses_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: Headers = dict(scope["headers"])
        answer = _foreign(scope, headers) or self._proxied(scope, headers)
        if answer is None:
            try:
                principal = await self._admitted(scope, headers)
            except Unauthorized as refusal:
                answer = _to_login(scope) if _is_page(scope, headers) else refused(refusal)
            except Refusal as refusal:
                answer = refused(refusal)
            except DatabaseUnavailable as error:
                answer = unavailable(Request(scope), error)
            else:
                scope.setdefault("state", {}).update(principal=principal, who=principal.name)
                answer = self.app
        await answer(scope, receive, send)

    async def _admitted(self, scope: Scope, headers: Headers) -> Principal:
        address = address_of(scope)
        if is_open(scope["path"]):
            self.gate.count(address)
            return ANONYMOUS
        try:
            identify = partial(self.gate.identify, self._token(scope, headers), address)
            principal = await identify()
        except Unauthorized:
            self.gate.count(address)
            raise
        self.gate.count(address if principal is ANONYMOUS else f"token {principal.name!r}")
        scope.setdefault("state", {})["identify"] = identify  # again, by answers that last
        return principal

    def _token(self, scope: Scope, headers: Headers) -> str | None:
        """Return the token of a request: of its header, or of the dashboard's cookie.

        The cookie is for what only reads, and for forms that a browser says are our own.

        A cookie is no reason to refuse anybody where none is needed: it may be meant for another port.
        """
        if b"authorization" in headers:
            kind, _, token = headers[b"authorization"].decode("latin-1").partition(" ")
            if kind.lower() != "bearer":
                raise Unauthorized("Authorization is `Bearer` and a token here.")
            return token.strip()
        if self.gate.tokens_required and (scope["method"] in READING or _is_own_form(scope, headers)):
            return Request(scope).cookies.get(COOKIE)
        return None

    def _proxied(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """Refuse what a proxy passes on to an open server: it takes strangers for people of this machine."""
        if not self.refuses_proxies or is_open(scope["path"]):
            return None
        for name in headers:
            if name == b"forwarded" or name.startswith(b"x-forwarded-"):
                return problem(
                    HTTPStatus.FORBIDDEN,
                    "forwarded",
                    f"This came through a proxy ({name.decode('latin-1')}), and this server asks nobody for "
                    "a token. Make one with `thiessen token create`, then set THIESSEN_REQUIRE_TOKENS=true.",
                )
        return None


def _foreign(scope: Scope, headers: Headers) -> ASGIApp | None:
    """Refuse what a page of another site makes a browser send; other programs send none of these headers."""
    if scope["method"] in READING:
        return None
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        is_foreign = site not in {b"same-origin", b"none"}
    else:
        origin = headers.get(b"origin")
        is_foreign = origin is not None and _host_of(origin) != headers.get(b"host", b"").lower()
    if not is_foreign:
        return None
    detail = "A page of another site sent this. Send it from this server's own pages, or from a program."
    return problem(HTTPStatus.FORBIDDEN, "foreign-origin", detail)


def _is_own_form(scope: Scope, headers: Headers) -> bool:
    """Return whether a form of our pages sent this: what says nothing of where it comes from is none.

    What comes from elsewhere was refused before.
    """
    if not _is_form(scope):
        return False
    site = headers.get(b"sec-fetch-site")
    return site == b"same-origin" if site is not None else b"origin" in headers


def _is_form(scope: Scope) -> bool:
    return bool(scope["method"] == "POST") and not scope["path"].startswith("/api/")


def _host_of(origin: bytes) -> bytes:
    try:
        return urlsplit(origin.lower()).netloc
    except ValueError:
        return b""


def _is_page(scope: Scope, headers: Headers) -> bool:
    """Return whether a person's browser asks for a page, who can then be asked to sign in."""
    return (scope["method"] in READING or _is_form(scope)) and b"text/html" in headers.get(b"accept", b"")


def _to_login(scope: Scope) -> ASGIApp:
    """Lead to the form by a relative link, which stays behind the prefix of a proxy."""
    path = scope["path"]
    up = "../" * (path.count("/") - 1) or "./"
    return RedirectResponse(f"{up}login?next={quote(path, safe='/')}", HTTPStatus.SEE_OTHER)
