"""Where a webhook may point: an address of the open Internet, unless the server's settings say otherwise.

The name is resolved here and the connection made to the very address that was looked at, so that a name
which answers differently a moment later leads nowhere else.
"""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from app.domain.address import is_public
from app.domain.errors import ForbiddenAddress, InvalidRequest

RESOLVE_SECONDS: Final = 4.0
# A resolver that hangs holds up no other work of this process.
_RESOLVERS: Final = ThreadPoolExecutor(4, thread_name_prefix="webhook-names")


async def addresses(url: str, *, allow_private: bool) -> list[str]:
    """Return the addresses that the URL's host has. Raises InvalidRequest, ForbiddenAddress."""
    host, port = _host(url)
    resolving = asyncio.get_running_loop().run_in_executor(_RESOLVERS, _resolved, host, port)
    try:
        found = await asyncio.wait_for(resolving, RESOLVE_SECONDS)
    except TimeoutError:
        raise InvalidRequest(f"The webhook's host {host!r} cannot be resolved in time. Try again.") from None
    for address in found:
        if not allow_private and not is_public(address):
            raise ForbiddenAddress(host, address)
    return found


def _host(url: str) -> tuple[str, int | None]:
    import httpx  # only who uses webhooks loads it

    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidRequest(f"The webhook's url is no URL: {error}.") from error
    if parsed.scheme not in {"http", "https"} or not host:
        raise InvalidRequest("The webhook's url begins with http:// or https:// and names a host.")
    if parsed.port is not None and not 1 <= parsed.port <= 65535:
        raise InvalidRequest(f"The webhook's url has the port {parsed.port}; ports go from 1 to 65535.")
    if parsed.userinfo:
        raise InvalidRequest(
            "The webhook's url holds a user or a password. Leave them out and verify the signature instead."
        )
    return parsed.raw_host.decode("ascii"), parsed.port


def _resolved(host: str, port: int | None) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidRequest(f"The webhook's host {host!r} has no address: {error}.") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
