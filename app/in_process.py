"""The server's application inside another program, without a port: calls go to it as they are."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

from app.main import build
from app.settings import WrongSetting, read_settings
from app.storage import DatabaseUnavailable
from thiessen.errors import ServerUnreachable

T = TypeVar("T")


def transport(database: str) -> httpx.BaseTransport:
    """Return what a client of httpx speaks through to a server of this database. Raises ServerUnreachable."""
    try:
        return InProcess(build(read_settings(os.environ, database=database)))
    except (WrongSetting, DatabaseUnavailable) as error:
        raise ServerUnreachable(str(error)) from error


class InProcess(httpx.BaseTransport):
    """Answers each call on a loop of its own, in a thread of its own, until it is closed."""

    def __init__(self, app: FastAPI) -> None:
        self._asgi = httpx.ASGITransport(app)
        self._lifespan = app.router.lifespan_context(app)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="thiessen-server", daemon=True)
        self._thread.start()
        self._run(self._lifespan.__aenter__())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._run(self._answer(request))

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._run(self._lifespan.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.read())
        answer = await self._asgi.handle_async_request(sent)
        content = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
