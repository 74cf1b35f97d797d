"""One door to the database: steps that write, and steps that read.

A step is a function of a transaction. What it returns has been committed before the caller sees it.
"""

import fcntl
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app import meters

T = TypeVar("T")
Transaction = Connection
Step = Callable[[Transaction], T]

LARGEST_GROUP: Final = 64  # steps committed together on SQLite
READERS: Final = 4


class DatabaseUnavailable(Exception):  # noqa: N818 - says what happened
    """The database cannot be used; the message says why and what to do."""


class Store(Protocol):
    """Where everything is kept."""

    engine: Engine

    def write(self, step: Step[T]) -> T:
        """Run a step that writes; return its answer once it is committed."""

    def read(self, step: Step[T]) -> T:
        """Run a step that only reads."""

    def close(self) -> None:
        """Finish what is under way and let go of the database."""


def open_store(url: str) -> Store:
    """Open the database at `url`. Raises DatabaseUnavailable."""
    parsed = _parsed(url)
    store = SQLiteStore(parsed) if parsed.get_backend_name() == "sqlite" else PostgresStore(parsed)
    try:
        store.read(lambda tx: tx.execute(text("SELECT 1")))
    except DatabaseUnavailable as error:
        store.close()
        remedy = (
            "Check the file." if isinstance(store, SQLiteStore) else "Check the address, and that it runs."
        )
        raise DatabaseUnavailable(
            f"Cannot open {parsed.render_as_string(hide_password=True)}. {error} {remedy}"
        ) from error
    return store


class SQLiteStore:
    """One file, one owning process, one thread that writes.

    Steps that wait while a commit is under way are committed together, each in its own savepoint: many
    writers share one fsync, and nobody ever meets a locked database.
    """

    def __init__(self, url: URL) -> None:
        path = url.database
        if path is None or path in {"", ":memory:"}:
            raise DatabaseUnavailable(
                "A server needs a file: sqlite:///thiessen.db, not an in-memory database."
            )
        self._lock = _owned(Path(path))
        self.engine = _sqlite_engine(url, connections=1)  # the writer's own: readers never make it wait
        self._readers = _sqlite_engine(url, connections=READERS)
        self._is_closed = False
        self._waiting: queue.SimpleQueue[tuple[Step[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_groups, name="sqlite-writer", daemon=True)
        self._writer.start()

    def write(self, step: Step[T]) -> T:
        if self._is_closed:
            raise DatabaseUnavailable("The server is stopping.")
        answer: Future[T] = Future()
        self._waiting.put((step, answer))
        return answer.result()

    def read(self, step: Step[T]) -> T:
        with explained(), self._readers.connect() as connection, connection.begin():
            return step(connection)

    def close(self) -> None:
        self._is_closed = True
        self._waiting.put(None)
        self._writer.join()
        self.engine.dispose()
        self._readers.dispose()
        os.close(self._lock)

    def _write_groups(self) -> None:
        closing = False
        while not closing:
            group = [self._waiting.get()]
            while len(group) < LARGEST_GROUP and not self._waiting.empty():
                group.append(self._waiting.get())
            closing = None in group
            self._write_group([waiting for waiting in group if waiting is not None])

    def _write_group(self, group: list[tuple[Step[Any], Future[Any]]]) -> None:
        answers: list[tuple[Future[Any], Any, Exception | None]] = []
        try:
            with (
                meters.writing(len(group)),
                explained(),
                self.engine.connect() as connection,
                connection.begin(),
            ):
                for step, future in group:
                    answers.append((future, *_in_savepoint(step, connection)))
        except BaseException as error:  # noqa: BLE001 - nobody of the group was served; the thread lives on
            for _, future in group:
                future.set_exception(error)
            return
        for future, answer, refused in answers:  # only now is anything acknowledged
            if refused is None:
                future.set_result(answer)
            else:
                future.set_exception(refused)


class PostgresStore:
    """A pool of connections and a commit for each step; any number of server processes."""

    def __init__(self, url: URL) -> None:
        self.engine = create_engine(
            url.set(drivername="postgresql+psycopg"), pool_size=8, max_overflow=8, pool_pre_ping=True
        )

    def write(self, step: Step[T]) -> T:
        with meters.writing(1), explained(), self.engine.begin() as connection:
            return step(connection)

    def read(self, step: Step[T]) -> T:
        return self.write(step)

    def close(self) -> None:
        self.engine.dispose()


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = URL.create("unknown")
    if parsed.drivername.split("+")[0] not in {"sqlite", "postgresql"}:
        raise DatabaseUnavailable(
            f"{re.sub('//.*@', '//', url)!r} is not a database address. "
            "Use sqlite:///thiessen.db or postgresql://user@host/database."
        )
    return parsed


@contextmanager
def explained() -> Iterator[None]:
    """Turn every way in which a database fails into DatabaseUnavailable; a step's own mistakes stay."""
    try:
        yield
    except (IntegrityError, DataError, ProgrammingError) as error:
        if "permission denied" not in str(error.orig):
            raise
        raise DatabaseUnavailable(_sentence(error)) from error
    except DBAPIError as error:
        raise DatabaseUnavailable(_sentence(error)) from error
    except PoolTimeout as error:
        raise DatabaseUnavailable("Every connection to the database is busy.") from error


def _sentence(error: DBAPIError) -> str:
    return f"The database refused: {str(error.orig).strip().splitlines()[0]}."


def _sqlite_engine(url: URL, connections: int) -> Engine:
    engine = create_engine(
        url, pool_size=connections, max_overflow=0, connect_args={"check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


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


def _prepare_sqlite(connection: Any, record: Any) -> None:
    del record
    connection.isolation_level = None  # we say BEGIN ourselves; the driver's own guesses break savepoints
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def _in_savepoint(step: Step[Any], connection: Connection) -> tuple[Any, Exception | None]:
    """Return the step's answer or what it raised; what it wrote before raising is undone.

    A database that fails (disk full, say) is not the step's own refusal: it ends the whole group.
    """
    try:
        with connection.begin_nested():
            return step(connection), None
    except (OperationalError, DatabaseUnavailable):
        raise
    except Exception as error:  # noqa: BLE001 - it belongs to the caller of write, who gets it
        return None, error
