"""Builds the server; with `routes` the only file that knows every room."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from fastapi import FastAPI

from app import wire
from app.api.door import Door
from app.api.headers import SafeHeaders
from app.api.limits import BodyLimit, KnownContract, KnownHost
from app.api.problems import answer_with_problems, describe_problems
from app.api.requests import Watched
from app.dashboard.problems import ProblemPages
from app.gate import Gate
from app.house import House
from app.lifecycle import access, once
from app.lifecycle.deliver import Postman
from app.lifecycle.expire import expire
from app.lifecycle.follow import Followers
from app.lifecycle.hearing import Hearing
from app.lifecycle.retention import remove_old
from app.routes import routes
from app.settings import Settings, WrongSetting
from app.storage import DatabaseUnavailable, Store, open_store
from app.storage import workers as workers_stored
from app.storage.schema import prepare
from thiessen.version import __version__

SWEEP_SECONDS: Final = 1.0
SWEEPS_TO_SEEN: Final = 5
SWEEPS_TO_FORGET: Final = 600

log = logging.getLogger("thiessen.server")


def build(settings: Settings) -> FastAPI:
    """Open the database, create its schema if it is empty, and return the application.

    Raises DatabaseUnavailable, WrongSetting.
    """
    store = open_store(settings.database, sqlite_synchronous=settings.sqlite_synchronous)
    try:
        prepare(store)
        _check_tokens(store, settings)
        house = House(
            store=store,
            lease_for=settings.lease_for,
            hearing=Hearing(store, settings.lease_for),
            followers=Followers(store),
            allow_private_webhooks=settings.allow_private_webhooks,
        )
    except BaseException:
        store.close()
        raise

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        unlisten = house.waiting.listen(store)
        postman = Postman(store, write=wire.delivery, allow_private=settings.allow_private_webhooks)
        work = (_sweep(house, settings), house.followers.look_out(), postman.work())
        tasks = [asyncio.create_task(each) for each in work]
        yield
        house.close()
        unlisten()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(store.close)

    app = FastAPI(
        title="Thiessen",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,  # served like the pages, to who may read
        docs_url=None,
        redoc_url=None,
    )
    app.state.house = house
    app.state.gate = gate = Gate(
        store,
        tokens_required=settings.tokens_required,
        requests_per_second=settings.requests_per_second,
    )
    app.router.routes.extend(routes())
    answer_with_problems(app)
    describe_problems(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(Door, gate=gate, refuses_proxies=settings.refuses_proxies)
    app.add_middleware(KnownContract)
    app.add_middleware(KnownHost, names=settings.known_hosts)
    app.add_middleware(Watched)
    app.add_middleware(ProblemPages)
    app.add_middleware(SafeHeaders)  # outermost: each one stands around those above it
    return app


def _check_tokens(store: Store, settings: Settings) -> None:
    """Refuse to serve when nobody could be let in. Raises WrongSetting."""
    if not settings.tokens_required or store.read(access.anybody):
        return
    raise WrongSetting(
        f"Refusing to serve on {settings.host}: it asks for tokens, and there is none that is valid. "
        f"Make one, then start again: thiessen token create admin --scope admin{settings.database_option}"
    )


async def _sweep(house: House, settings: Settings) -> None:
    """Do now and then what no request does: expire what is overdue, write down who was heard, forget."""
    for sweep in itertools.count():
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            await house.hearing.look()
            deaf_until = await house.hearing.deaf_until()
            await asyncio.to_thread(expire, house.store, deaf_until)
            if sweep % SWEEPS_TO_SEEN == 0 and house.heard:
                heard = set(house.heard)
                house.heard.clear()
                await asyncio.to_thread(house.store.write, partial(workers_stored.seen, heard=heard))
            if sweep % SWEEPS_TO_FORGET == 0:
                await asyncio.to_thread(house.store.write, once.forget)
                await asyncio.to_thread(
                    remove_old, house.store, events=settings.keep_events, curves=settings.keep_curves
                )
        except DatabaseUnavailable as error:
            house.hearing.interrupt()
            log.warning("%s", error)
        except Exception:
            log.exception("Sweeping failed; it is tried again.")
