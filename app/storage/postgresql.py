"""The store on PostgreSQL: any number of server processes, each with pools of connections."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter
from typing import Any, Final, TypeVar

import psycopg
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from app import meters
from app.storage import libpq
from app.storage.bell import CHANNEL, Callback, Listeners
from app.storage.documents import JSON
from app.storage.group import LARGEST, LONGEST, Group, Outcome, Waiter, Waiting, opened, tell
from app.storage.prepared import flush
from app.storage.store import (
    COLLIDED,
    STOPPING,
    Attendance,
    DatabaseUnavailable,
    Readers,
    Step,
    explained,
    run,
)

T = TypeVar("T")

CONNECTIONS: Final = 8  # for steps that are run alone, and as many for reading
GROUPS_WAIT: Final = 0.05  # seconds, for a row that somebody else has locked: then the step is run alone
LEFT: Final = COLLIDED | {"55P03"}  # PostgreSQL: and lock not available
REOPEN_SECONDS: Final = 1.0
OPTIONS: Final[dict[str, Any]] = {
    "max_overflow": 0,
    # psycopg is not to prepare anything: after a rollback it lets go of all, of what we have prepared too.
    "connect_args": {"prepare_threshold": None},
    **JSON,
}

log = logging.getLogger("thiessen.server")


class PostgresStore:
    """Steps that wait while a commit is under way are committed together; those that collide are run alone.

    Asking and telling lock their study until the commit: steps of one study would wait for each other's
    commits, one by one. Those who must wait for another server do so on connections of their own.
    """

    def __init__(self, url: URL, read_seconds: float) -> None:
        url = url.set(drivername="postgresql+psycopg")
        pool = {"pool_size": CONNECTIONS, **OPTIONS}
        self._engine = create_engine(url, **pool)
        libpq.watch(self._engine, flush)
        self._groups = _Groups(url, self.write)
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
        del is_slow  # no event loop waits for it here
        answer: T = opened(await self._groups.add(step))
        return answer

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
        self._groups.close()
        self._attendance.close()
        self._engine.dispose()
        self._readers.close()


class _Groups:
    """A thread with a connection that commits together what waits, and others for the steps it leaves."""

    def __init__(self, url: URL, write: Callable[[Step[Any]], Any]) -> None:
        self._engine = create_engine(url, pool_size=1, **OPTIONS)
        event.listen(self._engine, "connect", _prepare_groups)
        libpq.watch(self._engine, flush)
        self._connection: Connection | None = None
        self._write = write
        self._waiting: SimpleQueue[Waiting | None] = SimpleQueue()  # None comes last
        self._closing = threading.Lock()
        self._is_closed = False
        self._alone = ThreadPoolExecutor(CONNECTIONS, "postgresql-writer")
        self._thread = threading.Thread(target=self._serve, name="postgresql-groups", daemon=True)
        self._thread.start()

    def add(self, step: Step[Any]) -> Waiter:
        """Take a step; its outcome is awaited. Raises DatabaseUnavailable after the last."""
        waiter: Waiter = asyncio.get_running_loop().create_future()
        with self._closing:  # nobody may come to wait behind the last
            if self._is_closed:
                raise DatabaseUnavailable(STOPPING)
            self._waiting.put((step, waiter))
        return waiter

    def close(self) -> None:
        with self._closing:
            self._is_closed = True
        self._waiting.put(None)
        self._thread.join()
        self._alone.shutdown()
        self._engine.dispose()

    def _serve(self) -> None:
        while (first := self._waiting.get()) is not None:
            group = Group(LEFT)
            group.write(self._kept_open, self._next(first))
            group.commit()
            group.tell()
            for each in group.left:
                self._alone.submit(self._serve_alone, each)
        if self._connection is not None:
            self._connection.close()

    def _next(self, first: Waiting) -> Iterator[Waiting]:
        """Yield the first who waits, and others for as long as a group may last."""
        until = monotonic() + LONGEST
        yield first
        for _ in range(1, LARGEST):
            try:
                each = self._waiting.get_nowait()
            except Empty:
                return
            if each is None:
                self._waiting.put(None)
                return
            yield each
            if monotonic() > until:
                return

    def _serve_alone(self, each: Waiting) -> None:
        step, waiter = each
        try:
            outcome: Outcome = self._write(step), None
        except BaseException as error:  # noqa: BLE001 - it belongs to who waits, and who gets it
            outcome = None, error
        tell([(waiter, outcome)])

    def _kept_open(self) -> Connection:
        """Return the connection of the groups, a new one when the last failed."""
        if self._connection is None or self._connection.invalidated:
            if self._connection is not None:
                with suppress(DBAPIError):
                    self._connection.close()
            self._connection = self._engine.connect()
        return self._connection


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


def _prepare_groups(driver: Any, record: Any) -> None:
    """Let nobody keep a whole group waiting."""
    del record
    driver.autocommit = True
    driver.execute(f"SET lock_timeout = {round(GROUPS_WAIT * 1000)}")
    driver.autocommit = False


def _prepare_reader(driver: Any, seconds: float) -> None:
    """Limit each statement, and make each transaction a snapshot that cannot write: its BEGIN says so."""
    driver.autocommit = True
    driver.execute(f"SET statement_timeout = {round(seconds * 1000)}")
    driver.autocommit = False
    driver.read_only = True
    driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
