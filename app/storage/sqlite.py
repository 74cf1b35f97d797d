"""The store on SQLite: one file, one owning process, one connection that writes."""

import asyncio
import fcntl
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from app.storage.bell import Callback, Listeners
from app.storage.documents import JSON
from app.storage.group import LARGEST, LONGEST, Group, Waiter, Waiting, opened
from app.storage.store import STOPPING, DatabaseUnavailable, Readers, Step, explained

T = TypeVar("T")

READERS: Final = 4
LOGGED: Final = (
    4000  # pages, 16 MB, before they are copied into the file: most are written many times till then
)
LOOK_EVERY: Final = 100_000  # of SQLite's instructions, some milliseconds: is the time of this reader over?


class SQLiteStore:
    """Steps that wait while a commit is under way are committed together, each in its own savepoint.

    Many writers share one fsync, and nobody ever meets a locked database. What an event loop awaits runs in
    that loop: Python runs one thread at a time, so a thread of their own would only add the handing over.
    A commit waits for the disk, and is another thread's.
    """

    def __init__(self, url: URL, read_seconds: float, synchronous: str) -> None:
        path = url.database
        if path is None or path in {"", ":memory:"}:
            raise DatabaseUnavailable(
                "A server needs a file: sqlite:///thiessen.db, not an in-memory database."
            )
        self._url = url
        self._waits_for_disk = synchronous == "full"  # else a commit is over before a thread could take it
        self._lock = _owned(Path(path))
        keep_private(Path(path))
        self._engine = _writing(url)
        event.listen(
            self._engine, "connect", lambda driver, _: driver.execute(f"PRAGMA synchronous={synchronous}")
        )
        self._readers = Readers(_reading(url, read_seconds), most=READERS, seconds=read_seconds)
        self._listeners = Listeners()
        self._connection: Connection | None = None
        self._turn = threading.Lock()  # of who uses the connection: it writes a group, or commits it
        self._quick: deque[tuple[Step[Any], Waiter]] = deque()  # who waits
        self._slow: deque[tuple[Step[Any], Waiter]] = deque()
        self._written: queue.SimpleQueue[Group | None] = queue.SimpleQueue()  # at most one: it has the turn
        self._is_closed = False
        self._closing = threading.Lock()
        self._committer = threading.Thread(target=self._commit_groups, name="sqlite-committer", daemon=True)
        self._committer.start()

    def write(self, step: Step[T]) -> T:
        self._insist_on_being_open()
        with self._turn:
            self._insist_on_being_open()  # still: it may have closed meanwhile
            group = Group()
            group.write(self._kept_open, iter([(step, None)]))
            group.commit()
        self._end(group)
        answer: T = opened(group.outcomes[0])
        return answer

    async def written(self, step: Step[T], *, is_slow: bool = False) -> T:
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        with self._closing:  # nobody may come to wait behind the last
            self._insist_on_being_open()
            (self._slow if is_slow else self._quick).append((step, waiter))
        loop.call_soon(self._write_group)  # together with all that comes in this round of the loop
        answer: T = opened(await waiter)
        return answer

    def read(self, step: Step[T]) -> T:
        return self._readers.read(step)

    async def seen(self, step: Step[T]) -> T:
        return await self._readers.seen(step)

    def migrate(self, step: Step[T]) -> T:
        engine = _writing(self._url)
        event.listen(engine, "connect", lambda driver, _: driver.execute("PRAGMA foreign_keys=OFF"))
        try:
            with explained(), engine.begin() as transaction:
                return step(transaction)
        finally:
            engine.dispose()

    def listen(self, callback: Callback) -> Callable[[], None]:
        stop = self._listeners.add(callback)
        callback(None)
        return stop

    def close(self) -> None:
        with self._closing:
            self._is_closed = True
        while self._awaited():  # their loop may have ended
            self._turn.acquire()
            self._write_and_commit()
        self._turn.acquire()
        self._written.put(None)
        self._committer.join()
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()
        self._readers.close()
        os.close(self._lock)
        self._turn.release()  # who still waits for it is refused

    def _insist_on_being_open(self) -> None:
        if self._is_closed:
            raise DatabaseUnavailable(STOPPING)

    def _write_group(self) -> None:
        """Write what waits, unless somebody else has the turn, who will call this again when it ends."""
        if self._awaited() and self._turn.acquire(blocking=False):
            self._write_and_commit()

    def _write_and_commit(self) -> None:
        group = Group()
        group.write(self._kept_open, self._next())
        if self._waits_for_disk:
            self._written.put(group)
        else:
            self._commit(group)

    def _next(self) -> Iterator[Waiting]:
        """Yield steps for one group, the quick first; few when they take long: requests wait for the loop.

        At least one of each kind gets its turn, so that neither keeps the other waiting for ever.
        """
        until = time.monotonic() + LONGEST
        room = LARGEST
        for waiting in (self._quick, self._slow):
            is_first = True
            while waiting and (is_first or (room > 0 and time.monotonic() < until)):
                yield waiting.popleft()
                is_first = False
                room -= 1

    def _commit_groups(self) -> None:
        while (group := self._written.get()) is not None:
            self._commit(group)

    def _commit(self, group: Group) -> None:
        group.commit()
        self._turn.release()
        self._end(group)

    def _end(self, group: Group) -> None:
        """Tell what became of a group; let those write who came meanwhile."""
        group.tell()
        for study_id in group.rung:
            self._listeners.call(study_id)
        if waiting := self._awaited():
            with suppress(IndexError, RuntimeError):  # they have been served, or their loop has ended
                waiting[0][1].get_loop().call_soon_threadsafe(self._write_group)

    def _awaited(self) -> deque[tuple[Step[Any], Waiter]]:
        """Return those who wait, of one kind; nobody when nobody waits."""
        return self._quick or self._slow

    def _kept_open(self) -> Connection:
        """Return the writer's connection: to take it from the pool for each group costs as much as a step."""
        self._connection = self._connection or self._engine.connect()
        return self._connection


def _writing(url: URL) -> Engine:
    """Return the engine of the writer alone: readers never make it wait."""
    engine = _engine(url, connections=1)
    event.listen(engine, "begin", lambda connection: _driver(connection).execute("BEGIN"))
    return engine


def _reading(url: URL, seconds: float) -> Engine:
    engine = _engine(url, connections=READERS)

    def begin(connection: Connection) -> None:
        deadline = time.monotonic() + seconds
        driver = _driver(connection)
        driver.set_progress_handler(lambda: time.monotonic() > deadline, LOOK_EVERY)
        driver.execute("BEGIN")

    event.listen(engine, "connect", _prepare_reader)
    event.listen(engine, "begin", begin)
    return engine


def _engine(url: URL, connections: int) -> Engine:
    engine = create_engine(
        url, pool_size=connections, max_overflow=0, connect_args={"check_same_thread": False}, **JSON
    )
    event.listen(engine, "connect", _prepare)
    return engine


def _prepare(driver: Any, record: Any) -> None:
    del record
    driver.isolation_level = None  # we say BEGIN ourselves; the driver's own guesses break savepoints
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
        driver.execute(f"PRAGMA {pragma}")
    driver.execute(f"PRAGMA wal_autocheckpoint={LOGGED}")


def _prepare_reader(driver: Any, record: Any) -> None:
    del record
    driver.execute("PRAGMA query_only=ON")
    driver.execute("PRAGMA cache_size=-512")  # kB; the system keeps the pages once for all


def _driver(connection: Connection) -> Any:
    """Return sqlite3's own connection."""
    return connection.connection.driver_connection


def keep_private(path: Path) -> None:
    """Make a file that its owner alone reads, unless there is one: it is to hold the secrets of webhooks.

    SQLite gives the files beside it the same mode. A file that cannot be made is its business too.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _owned(path: Path) -> int:
    """Take the lock beside a SQLite file. Raises DatabaseUnavailable when another process has it."""
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise DatabaseUnavailable(
            f"Cannot write beside {path}: {error.strerror}. Choose a file in a folder that exists."
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DatabaseUnavailable(
            f"Another server owns {path}. One process owns a SQLite file: stop the other one, "
            "or use PostgreSQL for several servers."
        ) from None
    return descriptor
