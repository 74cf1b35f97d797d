"""One door to the database: steps that write, and steps that read.

A step is a function of a transaction. What it returns has been committed before the caller sees it.
"""

import fcntl
import os
import queue
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

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
        self.engine = create_engine(url, pool_size=READERS, connect_args={"check_same_thread": False})
        event.listen(self.engine, "connect", _prepare_sqlite)
        event.listen(self.engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        self._waiting: queue.SimpleQueue[tuple[Step[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_groups, name="sqlite-writer", daemon=True)
        self._writer.start()

    def write(self, step: Step[T]) -> T:
        answer: Future[T] = Future()
        self._waiting.put((step, answer))
        return answer.result()

    def read(self, step: Step[T]) -> T:
        try:
            with self.engine.connect() as connection, connection.begin():
                return step(connection)
        except OperationalError as error:
            raise _explained(error) from error

    def close(self) -> None:
        self._waiting.put(None)
        self._writer.join()
        self.engine.dispose()
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
            with self.engine.connect() as connection, connection.begin():
                for step, future in group:
                    answers.append((future, *_in_savepoint(step, connection)))
        except Exception as error:  # noqa: BLE001 - the commit failed: nobody of the group was served
            for _, future in group:
                future.set_exception(_explained(error))
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
        try:
            with self.engine.begin() as connection:
                return step(connection)
        except OperationalError as error:
            raise _explained(error) from error

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


def _explained(error: Exception) -> Exception:
    if isinstance(error, OperationalError):
        return DatabaseUnavailable(f"The database does not answer: {str(error.orig).strip()}.")
    return error


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
    except DBAPIError as error:
        if isinstance(error, OperationalError):
            raise
        return None, error
    except Exception as error:  # noqa: BLE001 - it belongs to the caller of write, who gets it
        return None, error
