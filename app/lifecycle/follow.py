"""Follow the events of a study: wait for the next one without a thread and without a connection.

One task looks for everybody who waits, with one query, and only while somebody does.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from functools import partial
from typing import Final

from app.domain.study import StudyId
from app.storage import DatabaseUnavailable, Store, feed

log = logging.getLogger("thiessen.server")

LOOK_SECONDS: Final = 1.0
MOST_FOLLOWERS: Final = 1000  # of one process


class TooManyFollowers(Exception):  # noqa: N818 - says what happened
    """Every seat of this process is taken."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"This server already sends {most} streams of events. Ask again, or read page by page."
        )


class Heard(Enum):
    """What waiting came to."""

    NEWS = auto()
    SILENCE = auto()
    END = auto()  # the study is gone, or the server stops


class Followers:
    """Those who wait for events of a study beyond the last that they know."""

    def __init__(self, store: Store, *, most: int = MOST_FOLLOWERS) -> None:
        self._store = store
        self._most = most
        self._seated = 0
        self._waiting: dict[asyncio.Future[Heard], tuple[StudyId, int]] = {}
        self._somebody_waits = asyncio.Event()
        self._is_closed = False

    @contextmanager
    def seat(self) -> Iterator[None]:
        """Take a seat for as long as a stream lasts. Raises TooManyFollowers."""
        if self._seated >= self._most:
            raise TooManyFollowers(self._most)
        self._seated += 1
        try:
            yield
        finally:
            self._seated -= 1

    async def wait(self, study_id: StudyId, *, after: int, patience_seconds: float) -> Heard:
        """Wait until the study has an event after that number."""
        if self._is_closed:
            return Heard.END
        news: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
        self._waiting[news] = (study_id, after)
        self._somebody_waits.set()
        try:
            await asyncio.wait([news], timeout=patience_seconds)
            return news.result() if news.done() else Heard.SILENCE
        finally:
            del self._waiting[news]
            if not self._waiting:
                self._somebody_waits.clear()

    async def look_out(self) -> None:
        """Look for news for as long as the server runs."""
        while True:
            await self._somebody_waits.wait()
            try:
                await self._look()
            except DatabaseUnavailable as error:
                log.warning("%s", error)
            except Exception:
                log.exception("Looking for events failed; streams wait for the next look.")
            await asyncio.sleep(LOOK_SECONDS)

    def close(self) -> None:
        """End every stream, now and from now on."""
        self._is_closed = True
        for news in self._waiting:
            _tell(news, Heard.END)

    async def _look(self) -> None:
        awaited = {study_id for study_id, _ in self._waiting.values()}
        last = await self._store.seen(partial(feed.last, study_ids=awaited))
        for news, (study_id, after) in self._waiting.items():
            if study_id not in awaited:
                continue  # it came while we looked
            if study_id not in last:
                _tell(news, Heard.END)
            elif last[study_id] > after:
                _tell(news, Heard.NEWS)


def _tell(news: asyncio.Future[Heard], heard: Heard) -> None:
    if not news.done():
        news.set_result(heard)
