"""Builds the server; the only file that knows every room."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from fastapi import Depends, FastAPI

from app.api import best, health, leases, metrics, studies, trials, workers
from app.api.headers import SafeHeaders
from app.api.limits import BodyLimit, KnownContract, KnownHost
from app.api.paths import in_project
from app.api.problems import answer_with_problems
from app.api.requests import Watched
from app.dashboard import pages
from app.house import House
from app.lifecycle.expire import expire
from app.lifecycle.hearing import Hearing
from app.settings import Settings
from app.storage import DatabaseUnavailable, open_store
from app.storage import workers as workers_stored
from app.storage.schema import prepare
from thiessen.version import __version__

SWEEP_SECONDS: Final = 1.0
SWEEPS_TO_SEEN: Final = 5

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
        unlisten = house.waiting.listen(store)
        yield
        house.closing.set()
        unlisten()
        sweeper.cancel()
        await asyncio.to_thread(store.close)

    app = FastAPI(title="Thiessen", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.house = house
    for router in (studies.router, trials.router, best.router, leases.router, workers.router):
        app.include_router(router, prefix="/api/v1")
    for router in (studies.router, trials.router):
        app.include_router(router, prefix="/api/v1/projects/{project}", dependencies=[Depends(in_project)])
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
    """Do now and then what no request does: expire what is overdue, and write down who was heard."""
    for sweep in itertools.count():
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            deaf_until = await house.hearing.deaf_until()
            await asyncio.to_thread(expire, house.store, deaf_until)
            if sweep % SWEEPS_TO_SEEN == 0 and house.heard:
                heard = set(house.heard)
                house.heard.clear()
                await house.store.written(partial(workers_stored.seen, names=heard))
        except DatabaseUnavailable as error:
            house.hearing.interrupt()
            log.warning("%s", error)
