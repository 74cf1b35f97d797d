"""Who asks, and whether they may: what the API and the dashboard share of it."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum, auto
from ipaddress import IPv6Address, IPv6Network
from typing import Annotated, Any, Final, cast

from fastapi import Depends, Request, params
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from app.domain.access import ANONYMOUS, Principal, Scope
from app.domain.errors import (
    BoundElsewhere,
    ProjectNotFound,
    Refusal,
    ScopeMissing,
    TooManyRequests,
    Unauthorized,
)
from app.domain.rate import Rates
from app.domain.study import DEFAULT_PROJECT
from app.lifecycle import access
from app.storage import Store

OPEN: Final = {"/healthz", "/readyz", "/login", "/logout"}  # for everybody, always
COOKIE: Final = "thiessen_token"
FRESH_SECONDS: Final = 2.0  # how long a revoked token may still be taken for good
MORE: Final = "x-scope"  # in the OpenAPI document, of a parameter that needs more than its route
MOST_KNOWN: Final = 10_000
WRONG_TOKENS: Final = 10  # that an address may send at once
WRONG_TOKENS_PER_SECOND: Final = 10 / 60  # and from then on


class Gate:
    """Tells principals by their tokens, and how often each may ask."""

    def __init__(
        self,
        store: Store,
        *,
        tokens_required: bool,
        requests_per_second: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tokens_required = tokens_required
        self._store = store
        self._clock = clock
        self._known: OrderedDict[str, tuple[Principal, float]] = OrderedDict()  # by digest, until when
        self._wrong = Rates(WRONG_TOKENS_PER_SECOND, WRONG_TOKENS, clock)
        self._rates = (
            Rates(requests_per_second, max(2 * requests_per_second, 1), clock)
            if requests_per_second
            else None
        )

    async def identify(self, token: str | None, address: str) -> Principal:
        """Return whose token it is, everybody's if none is needed. Raises Unauthorized, TooManyRequests."""
        if token is not None:
            return await self._owner(token, address)
        if self.tokens_required:
            raise Unauthorized(
                "This server wants a token, as in `Authorization: Bearer thiessen_...`. An admin makes one: "
                "thiessen token create NAME --scope read"
            )
        return ANONYMOUS

    def count(self, name: str) -> None:
        """Count a request of `name`, a principal or an address. Raises TooManyRequests."""
        if self._rates is not None and (wait := self._rates.draw(name)):
            raise TooManyRequests(f"{name} asks more often than this server allows", wait)

    async def _owner(self, token: str, address: str) -> Principal:
        digest = access.digest(token)
        principal, fresh_until = self._known.get(digest, (None, 0.0))
        if principal is not None and self._clock() < fresh_until:
            return principal
        # Who was let in before is looked up even beside somebody at the same address who guesses.
        if principal is None and (wait := self._wrong.wait(address)):
            raise TooManyRequests(f"{address} has sent too many tokens that are not valid", wait)
        found = await self._store.seen(lambda tx: access.who(tx, digest))
        self._known.pop(digest, None)
        if found is None:
            self._wrong.draw(address)
            raise Unauthorized(
                "This token is not valid here: it was never given, has expired or was revoked. "
                "An admin makes another: thiessen token create NAME --scope read"
            )
        self._known[digest] = found, self._clock() + FRESH_SECONDS
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return found


def is_open(path: str) -> bool:
    """Return whether a path is for everybody, always: whether the server is well, and how to sign in."""
    return path in OPEN or path.startswith("/static/")


def address_of(scope: Mapping[str, Any]) -> str:
    """Return where a request comes from; of IPv6 the network, which is what one person is given."""
    host: str = scope["client"][0] if scope.get("client") else "unknown"
    if ":" not in host:
        return host
    try:
        address = IPv6Address(host)
    except ValueError:
        return host
    return str(address.ipv4_mapped or IPv6Network((address.packed, 64), strict=False))


class Reach(Enum):
    """What a route concerns, for the sake of tokens that are bound to a project."""

    PROJECT = auto()  # the one in its path, `default` if none: another project is not found
    OWN = auto()  # whatever the principal sees; the route itself looks at `principal.project`
    SERVER = auto()  # all projects: no bound token may


class Allowed(SecurityBase):
    """What every route needs: yields the principal if it may. Raises Forbidden, ProjectNotFound."""

    scheme_name = "token"
    model = HTTPBearer(description="A token with the scope that the call needs, or one with `admin`.")

    def __init__(self, scope: Scope, reach: Reach = Reach.PROJECT) -> None:
        self.scope = scope
        self.reach = reach

    async def __call__(self, request: Request) -> Principal:
        principal = cast("Principal", request.state.principal)
        self.insist(principal)
        if principal.project is not None:
            self._check_reach(principal, request.path_params.get("project", DEFAULT_PROJECT))
        return principal

    @property
    def told(self) -> dict[str, Any]:
        """What the OpenAPI document says of a parameter that needs this."""
        return {MORE: self.scope.value}

    def insist(self, principal: Principal) -> None:
        """Raise Forbidden unless it may: for a route of which a part needs more."""
        if not principal.may(self.scope):
            raise ScopeMissing(principal, self.scope)

    def _check_reach(self, principal: Principal, project: str) -> None:
        if self.reach is Reach.SERVER:
            raise BoundElsewhere(principal)
        if self.reach is Reach.PROJECT and not principal.sees(project):
            raise ProjectNotFound(project, principal)


def needs(scope: Scope, reach: Reach = Reach.PROJECT) -> params.Security:
    """Return the dependency of a route on a scope, which the OpenAPI document then says as well."""
    return params.Security(Allowed(scope, reach), scopes=[scope.value])


def _welcome(request: Request) -> Callable[[], Awaitable[bool]]:
    async def is_welcome() -> bool:
        try:
            await request.state.identify()
        except Refusal:
            return False
        return True

    return is_welcome


Welcome = Annotated[Callable[[], Awaitable[bool]], Depends(_welcome)]
"""Tells whether who asked would be let in still: for an answer that lasts longer than a token may."""

READ: Final = needs(Scope.READ)
Reader = Annotated[Principal, needs(Scope.READ, Reach.OWN)]
ServerAdmin = Annotated[Principal, needs(Scope.ADMIN, Reach.SERVER)]
