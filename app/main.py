"""Builds the server; the only file that knows every room."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.api import health, leases, metrics, studies
from app.api.headers import SafeHeaders
from app.api.limits import BodyLimit, KnownContract, KnownHost
from app.api.problems import answer_with_problems
from app.api.requests import Watched
from app.dashboard import pages
from app.house import House
from app.lifecycle.expire import expire
from app.lifecycle.hearing import Hearing
from app.settings import Settings
from app.storage import DatabaseUnavailable, open_store
from app.storage.schema import prepare
from thiessen.version import __version__

log = logging.getLogger("thiessen.server")


def build(settings: Settings) -> FastAPI:
    """Open the database, create its schema if it is empty, and return the application.

    Raises DatabaseUnavailable.
    """
    store = open_store(settings.database)
    try:
        prepare(store)
        house = House(store=store, lease_for=settings.lease_for, hearing=Hearing(store, settings.lease_for))
    except BaseException:
        store.close()
        raise

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        sweeper = asyncio.create_task(_sweep(house))
        yield
        house.closing.set()
        sweeper.cancel()
        await asyncio.to_thread(store.close)

    app = FastAPI(title="Thiessen", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.house = house
    app.include_router(studies.router, prefix="/api/v1")
    app.include_router(leases.router, prefix="/api/v1")
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.include_router(pages.router)
    answer_with_problems(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(KnownContract)
    app.add_middleware(KnownHost, names=settings.known_hosts)
    app.add_middleware(Watched)
    app.add_middleware(SafeHeaders)  # outermost: each one stands around those above it
    return app


async def _sweep(house: House) -> None:
    """Expire what is overdue although no worker asks: a study ends even when its last worker has died."""
    while True:
        await asyncio.sleep(house.lease_for.total_seconds())
        try:
            await asyncio.to_thread(lambda: expire(house.store, house.hearing.deaf_until()))
        except DatabaseUnavailable as error:
            house.hearing.interrupt()
            log.warning("%s", error)
