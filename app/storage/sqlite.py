"""The store on SQLite: one file, one owning process, one thread that writes."""

import asyncio
import fcntl
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from app import failpoint, meters
from app.storage import bell
from app.storage.bell import Callback, Listeners
from app.storage.store import STOPPING, DatabaseUnavailable, Readers, Step, explained

T = TypeVar("T")
Outcome = tuple[Any, BaseException | None]  # of a step: its answer, or what it raised
Waiter = Future[Outcome] | asyncio.Future[Outcome]

LARGEST_GROUP: Final = 64  # steps committed together
READERS: Final = 4
LOOK_EVERY: Final = 100_000  # of SQLite's instructions, some milliseconds: is the time of this reader over?


class SQLiteStore:
    """Steps that wait while a commit is under way are committed together, each in its own savepoint.

    Many writers share one fsync, and nobody ever meets a locked database.
    """

    def __init__(self, url: URL, read_seconds: float, synchronous: str) -> None:
        path = url.database
        if path is None or path in {"", ":memory:"}:
            raise DatabaseUnavailable(
                "A server needs a file: sqlite:///thiessen.db, not an in-memory database."
            )
        self._url = url
        self._lock = _owned(Path(path))
        self._engine = _writing(url)
        event.listen(
            self._engine, "connect", lambda driver, _: driver.execute(f"PRAGMA synchronous={synchronous}")
        )
        self._readers = Readers(_reading(url, read_seconds), most=READERS, seconds=read_seconds)
        self._listeners = Listeners()
        self._waiting: queue.SimpleQueue[tuple[Step[Any], Waiter] | None] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._is_closed = False
        self._closing = threading.Lock()
        self._writer = threading.Thread(target=self._write_groups, name="sqlite-writer", daemon=True)
        self._writer.start()

    def write(self, step: Step[T]) -> T:
        waiter: Future[Outcome] = Future()
        self._put(step, waiter)
        answer: T = _opened(waiter.result())
        return answer

    async def written(self, step: Step[T]) -> T:
        waiter: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._put(step, waiter)
        answer: T = _opened(await waiter)
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
            self._waiting.put(None)
        self._writer.join()
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()
        self._readers.close()
        os.close(self._lock)

    def _put(self, step: Step[Any], waiter: Waiter) -> None:
        with self._closing:  # nobody may come to wait behind the last
            if self._is_closed:
                raise DatabaseUnavailable(STOPPING)
            self._waiting.put((step, waiter))

    def _write_groups(self) -> None:
        is_closing = False
        while not is_closing:
            group = [self._waiting.get()]
            while len(group) < LARGEST_GROUP and not self._waiting.empty():
                group.append(self._waiting.get())
            is_closing = None in group
            self._write_group([waiting for waiting in group if waiting is not None])

    def _kept_open(self) -> Connection:
        """Return the writer's connection: to take it from the pool for each group costs as much as a step."""
        self._connection = self._connection or self._engine.connect()
        return self._connection

    def _write_group(self, group: list[tuple[Step[Any], Waiter]]) -> None:
        rung: set[int] = set()
        outcomes: list[Outcome] = []
        try:
            with (
                meters.writing(len(group)),
                explained(),
                self._kept_open().begin() as transaction,
            ):
                for place, (step, _) in enumerate(group, start=1):
                    outcomes.append(_in_savepoint(step, transaction.connection, rung))
                    if place == len(group) // 2:
                        failpoint.reached("half-a-group")
        except BaseException as error:  # noqa: BLE001 - nobody of the group was served; the thread lives on
            outcomes = [(None, error)] * len(group)
            rung.clear()
        _tell(zip((waiter for _, waiter in group), outcomes, strict=True))  # only now, after the commit
        for study_id in rung:
            self._listeners.call(study_id)


def _in_savepoint(step: Step[Any], connection: Connection, rung: set[int]) -> Outcome:
    """Return the outcome of a step; what it wrote before raising is undone, and its ringing unheard.

    A database that fails (disk full, say) is not the step's own refusal: it ends the whole group.
    """
    driver = _driver(connection)  # its savepoints: those of SQLAlchemy cost ten times as much
    bell.take(connection)  # what was rung by a step that did not count
    driver.execute("SAVEPOINT step")
    try:
        answer = step(connection)
    except (OperationalError, DatabaseUnavailable):
        raise
    except Exception as error:  # noqa: BLE001 - it belongs to the caller of write, who gets it
        driver.execute("ROLLBACK TO step")
        outcome: Outcome = None, error
    else:
        outcome = answer, None
        rung.update(bell.take(connection))
    driver.execute("RELEASE step")
    return outcome


def _tell(outcomes: Iterable[tuple[Waiter, Outcome]]) -> None:
    """Wake who waits: threads one by one, an event loop once for all that wait on it."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Outcome], Outcome]]] = {}
    for waiter, outcome in outcomes:
        if isinstance(waiter, asyncio.Future):
            loops.setdefault(waiter.get_loop(), []).append((waiter, outcome))
        else:
            waiter.set_result(outcome)
    for loop, told in loops.items():
        with suppress(RuntimeError):  # the loop has ended, and who waited with it
            loop.call_soon_threadsafe(_tell_in_loop, told)


def _tell_in_loop(told: list[tuple[asyncio.Future[Outcome], Outcome]]) -> None:
    for waiter, outcome in told:
        if not waiter.cancelled():
            waiter.set_result(outcome)


def _opened(outcome: Outcome) -> Any:
    answer, refused = outcome
    if refused is not None:
        raise refused
    return answer


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

    event.listen(engine, "connect", lambda driver, _: driver.execute("PRAGMA query_only=ON"))
    event.listen(engine, "begin", begin)
    return engine


def _engine(url: URL, connections: int) -> Engine:
    engine = create_engine(
        url, pool_size=connections, max_overflow=0, connect_args={"check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare)
    return engine


def _prepare(driver: Any, record: Any) -> None:
    del record
    driver.isolation_level = None  # we say BEGIN ourselves; the driver's own guesses break savepoints
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
        driver.execute(f"PRAGMA {pragma}")


def _driver(connection: Connection) -> Any:
    """Return sqlite3's own connection."""
    return connection.connection.driver_connection


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
