"""Deliver events to webhooks: at least once, in order for each study, and far from any request."""

import asyncio
import hashlib
import hmac
import logging
import random
import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from app.domain.errors import Refusal
from app.domain.webhook import Delivery, pause
from app.lifecycle.destination import addresses
from app.storage import DatabaseUnavailable, Store, webhooks
from thiessen.version import __version__

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("thiessen.server")

LOOK_SECONDS: Final = 1.0
SEND_SECONDS: Final = 5.0  # for the name, the connection and the answer together
MOST_AT_ONCE: Final = 16  # webhooks of this process
MOST_IN_A_ROW: Final = 100  # deliveries to one webhook before others that are due get their turn


class Postman:
    """Looks each second which webhooks are due, and sends to several at once."""

    def __init__(self, store: Store, *, write: Callable[[Delivery], bytes], allow_private: bool) -> None:
        self._store = store
        self._write = write
        self._allow_private = allow_private

    async def work(self) -> None:
        """Deliver for as long as the server runs."""
        under_way: dict[int, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as rounds:
            while True:
                under_way = {webhook: task for webhook, task in under_way.items() if not task.done()}
                free = MOST_AT_ONCE - len(under_way)
                for webhook in await self._due(free):
                    if webhook not in under_way:
                        under_way[webhook] = rounds.create_task(self.serve(webhook))
                await asyncio.sleep(LOOK_SECONDS)

    async def serve(self, webhook: int) -> None:
        """Send to one webhook until it knows all, or fails, or others have waited long enough."""
        try:
            for _ in range(MOST_IN_A_ROW):
                take = partial(webhooks.take, webhook_id=webhook)
                delivery = await self._store.written(take)
                if delivery is None or not await self._deliver(delivery):
                    return
        except DatabaseUnavailable as error:
            log.warning("%s", error)
        except Exception:
            log.exception("Serving webhook %d failed; it is due again in a while.", webhook)

    async def _due(self, most: int) -> list[int]:
        try:
            return await self._store.seen(partial(webhooks.due, limit=most))
        except DatabaseUnavailable as error:
            log.warning("%s", error)
        except Exception:
            log.exception("Looking for webhooks that are due failed; trying again.")
        return []

    async def _deliver(self, delivery: Delivery) -> bool:
        error = await self._fault(delivery)
        if error is None:
            await self._store.written(partial(webhooks.arrived, delivery=delivery))
            return True
        log.warning("Webhook %d was not told %s: %s", delivery.webhook, delivery.id, error)
        pause_for = pause(delivery.failures + 1, random.random())
        failed = partial(webhooks.failed, delivery=delivery, error=error, pause_for=pause_for)
        await self._store.written(failed)
        return False

    async def _fault(self, delivery: Delivery) -> str | None:
        """Send; return what went wrong, None when the receiver has taken it."""
        import httpx

        try:
            async with asyncio.timeout(SEND_SECONDS):
                status = await self._post(delivery)
        except TimeoutError:
            return f"no answer within {SEND_SECONDS:g} seconds"
        except Refusal as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it stops no other webhook, and it is kept
            return f"{type(error).__name__}: {error}"
        return None if httpx.codes.is_success(status) else f"the receiver answered {status}"

    async def _post(self, delivery: Delivery) -> int:
        """Connect to the first of the addresses that takes the connection; return the answer's status."""
        import httpx

        url = httpx.URL(delivery.url)
        body = self._write(delivery)
        headers = {
            "Host": url.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": f"thiessen/{__version__}",
            "Thiessen-Delivery": delivery.id,
            "Thiessen-Signature": signature(delivery.secret, round(time.time()), body),
        }
        named = {"sni_hostname": url.raw_host.decode("ascii")}  # whose certificate is asked for
        unreachable: httpx.ConnectError | None = None
        for address in await addresses(delivery.url, allow_private=self._allow_private):
            to = url.copy_with(host=address)
            try:
                async with self._http.stream(
                    "POST", to, content=body, headers=headers, extensions=named
                ) as answer:
                    return answer.status_code  # its body is not read: nobody needs it, and it may be endless
            except httpx.ConnectError as error:
                unreachable = error
        raise unreachable or httpx.ConnectError("the host has no address")

    @cached_property
    def _http(self) -> "httpx.AsyncClient":
        import httpx

        return httpx.AsyncClient(  # nosec B113 - one timeout goes around everything
            verify=httpx.create_ssl_context(),
            timeout=None,  # noqa: S113 - one timeout goes around everything
            follow_redirects=False,
            trust_env=False,  # a proxy would resolve the name again
            # A kept connection knows its address, not for which name its certificate was checked.
            limits=httpx.Limits(max_keepalive_connections=0),
        )


def signature(secret: str, sent_at: int, body: bytes) -> str:
    """Return what proves to a receiver who knows the secret that we sent this, and when."""
    digest = hmac.new(secret.encode(), f"{sent_at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={sent_at},v1={digest}"
