"""Builds the server; the only file that knows every room."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from fastapi import FastAPI

from app.api import health, leases, projects, studies, tokens
from app.api.door import Door
from app.api.limits import BodyLimit, KnownHost
from app.api.problems import answer_with_problems, documented
from app.dashboard import login, pages
from app.gate import Gate
from app.house import House
from app.lifecycle import access, once
from app.lifecycle.expire import expire
from app.lifecycle.hearing import Hearing
from app.settings import Settings, WrongSetting
from app.storage import DatabaseUnavailable, Store, open_store
from app.storage.schema import prepare
from thiessen.version import __version__

TURNED_AWAY = documented(HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)

log = logging.getLogger("thiessen.server")


def build(settings: Settings) -> FastAPI:
    """Open the database, create its schema if it is empty, and return the application.

    Raises DatabaseUnavailable, WrongSetting.
    """
    store = open_store(settings.database)
    try:
        prepare(store)
        _check_tokens(store, settings)
        house = House(store=store, lease_for=settings.lease_for, hearing=Hearing(store, settings.lease_for))
    except BaseException:
        store.close()
        raise

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        sweeper = asyncio.create_task(_sweep(house))
        yield
        sweeper.cancel()
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
    for router in (studies.router, leases.router, projects.router, tokens.router):
        app.include_router(router, prefix="/api/v1", responses=TURNED_AWAY)
    for router in (health.router, login.router, pages.router):
        app.include_router(router)
    answer_with_problems(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(Door, gate=gate, refuses_proxies=settings.refuses_proxies)
    app.add_middleware(KnownHost, names=settings.known_hosts)
    return app


def _check_tokens(store: Store, settings: Settings) -> None:
    """Refuse to serve when nobody could be let in. Raises WrongSetting."""
    if not settings.tokens_required or store.read(access.anybody):
        return
    raise WrongSetting(
        f"Refusing to serve on {settings.host}: it asks for tokens, and there is none that is valid. "
        f"Make one, then start again: thiessen token create admin --scope admin{settings.database_option}"
    )


async def _sweep(house: House) -> None:
    """Expire what is overdue although no worker asks: a study ends even when its last worker has died."""
    while True:
        await asyncio.sleep(house.lease_for.total_seconds())
        try:
            await asyncio.to_thread(lambda: expire(house.store, house.hearing.deaf_until()))
            await asyncio.to_thread(house.store.write, once.forget)
        except DatabaseUnavailable as error:
            house.hearing.interrupt()
            log.warning("%s", error)
