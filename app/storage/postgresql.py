"""The store on PostgreSQL: pools of connections, a commit for each step, any number of server processes."""

import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, TypeVar

import psycopg
from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL

from app import meters
from app.storage.bell import CHANNEL, Callback, Listeners
from app.storage.documents import JSON
from app.storage.store import Attendance, Readers, Step, explained, in_thread, run

T = TypeVar("T")

CONNECTIONS: Final = 8  # for writing, and as many for reading
REOPEN_SECONDS: Final = 1.0

log = logging.getLogger("thiessen.server")


class PostgresStore:
    """Steps run side by side; those that collide are run again."""

    def __init__(self, url: URL, read_seconds: float) -> None:
        url = url.set(drivername="postgresql+psycopg")
        pool = {"pool_size": CONNECTIONS, "max_overflow": 0, **JSON}
        self._engine = create_engine(url, **pool)
        self._writers = ThreadPoolExecutor(CONNECTIONS, "postgresql-writer")
        readers = create_engine(url, **pool)
        event.listen(readers, "connect", lambda driver, _: _prepare_reader(driver, read_seconds))
        self._readers = Readers(readers, most=CONNECTIONS, seconds=read_seconds)
        self._attendance = Attendance()
        self._line = _Line(url)

    def write(self, step: Step[T]) -> T:
        began = perf_counter()
        with self._attendance.inside(), explained():
            answer = run(self._engine, step)
        meters.committed(1, perf_counter() - began)
        return answer

    async def written(self, step: Step[T], *, is_slow: bool = False) -> T:
        del is_slow  # nobody waits for it here but its own study
        return await in_thread(self._writers, self.write, step)

    def read(self, step: Step[T]) -> T:
        return self._readers.read(step)

    async def seen(self, step: Step[T]) -> T:
        return await self._readers.seen(step)

    def migrate(self, step: Step[T]) -> T:
        return self.write(step)

    def listen(self, callback: Callback) -> Callable[[], None]:
        return self._line.add(callback)

    def close(self) -> None:
        self._line.close()
        self._writers.shutdown()
        self._attendance.close()
        self._engine.dispose()
        self._readers.close()


class _Line:
    """A thread with a connection on which the rings of every server arrive; reopened when it dies."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._listeners = Listeners()
        self._thread = threading.Thread(target=self._hear, name="postgresql-bell", daemon=True)
        self._changing = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None  # while it hears
        self._closing = threading.Event()

    def add(self, callback: Callback) -> Callable[[], None]:
        with self._changing:
            stop = self._listeners.add(callback)
            if self._connection is not None:
                callback(None)
            if self._thread.ident is None and not self._closing.is_set():
                self._thread.start()
        return stop

    def close(self) -> None:
        with self._changing:
            self._closing.set()
        if connection := self._connection:
            _hang_up(connection)
        if self._thread.ident is not None:
            self._thread.join()

    def _hear(self) -> None:
        while not self._closing.is_set():
            try:
                with _opened(self._url) as connection:
                    self._hear_on(connection)
            except psycopg.Error as error:
                self._connection = None
                if not self._closing.wait(REOPEN_SECONDS):
                    log.warning("The bell's connection is opened again, after: %s", error)

    def _hear_on(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(f"LISTEN {CHANNEL}")
        with self._changing:
            self._connection = connection
            self._listeners.call(None)
        if self._closing.is_set():  # since before there was a connection to hang up
            return
        for ring in connection.notifies():
            self._listeners.call(int(ring.payload))


def _opened(url: URL) -> psycopg.Connection[Any]:
    """Return a connection that notices a peer that is gone without a word."""
    _, given = url.get_dialect()().create_connect_args(url)
    noticing = {"keepalives_idle": 10, "keepalives_interval": 5}
    return psycopg.connect(**{**noticing, **given}, autocommit=True)


def _hang_up(connection: psycopg.Connection[Any]) -> None:
    """End its waiting at once, from another thread: closing would not wake it."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def _prepare_reader(driver: Any, seconds: float) -> None:
    """Limit each statement, and make each transaction a snapshot that cannot write: its BEGIN says so."""
    driver.autocommit = True
    driver.execute(f"SET statement_timeout = {round(seconds * 1000)}")
    driver.autocommit = False
    driver.read_only = True
    driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
