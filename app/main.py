"""Builds the server; the only file that knows every room."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.api import events, health, leases, studies, webhooks, wire
from app.api.limits import BodyLimit, KnownHost
from app.api.problems import answer_with_problems
from app.dashboard import pages
from app.house import House
from app.lifecycle.deliver import Postman
from app.lifecycle.expire import expire
from app.lifecycle.follow import Followers
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
        postman = Postman(store, write=wire.delivery, allow_private=settings.allow_private_webhooks)
        work = (_sweep(house), house.followers.look_out(), postman.work())
        tasks = [asyncio.create_task(each) for each in work]
        yield
        house.followers.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(store.close)

    app = FastAPI(title="Thiessen", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.house = house
    app.include_router(studies.router, prefix="/api/v1")
    app.include_router(events.router, prefix="/api/v1")
    app.include_router(leases.router, prefix="/api/v1")
    app.include_router(webhooks.router, prefix="/api/v1")
    app.include_router(health.router)
    app.include_router(pages.router)
    answer_with_problems(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(KnownHost, names=settings.known_hosts)
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
