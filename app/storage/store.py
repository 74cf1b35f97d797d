"""What every database offers: steps that write, steps that read, and a bell.

A step is a function of a transaction and of nothing else: it may be run more than once before it counts, so
it draws no random numbers, starts nothing, and leaves no trace but in the transaction and its answer. What
it returns has been committed before the caller sees it.
"""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.storage.bell import Callback
from app.storage.prepared import flush

T = TypeVar("T")
Transaction = Connection
Step = Callable[[Transaction], T]

READ_SECONDS: Final = 30.0  # then a step that reads is stopped: it keeps a connection, and pages of the log
MOST_RUNS: Final = 5  # of one step
STOPPING: Final = "The server is stopping."

COLLIDED: Final = {"40001", "40P01"}  # PostgreSQL: could not serialize, deadlock; nothing was kept
STOPPED: Final = {"57014", "SQLITE_INTERRUPT"}


class DatabaseUnavailable(Exception):  # noqa: N818 - says what happened
    """The database cannot be used; the message says why and what to do."""


class ReadTooLong(Exception):  # noqa: N818 - says what happened
    """A step that reads was stopped at its time limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"Reading took longer than {seconds:g} seconds and was stopped. Ask for less at once."
        )


class Store(Protocol):
    """Where everything is kept."""

    def write(self, step: Step[T]) -> T:
        """Run a step that writes; return its answer once it is committed."""

    def read(self, step: Step[T]) -> T:
        """Run a step that only reads, all of it from one moment. Raises ReadTooLong."""

    async def written(self, step: Step[T], *, is_slow: bool = False) -> T:
        """Do as `write` with a step of a few milliseconds, for an event loop, which may run it itself.

        One that may think for longer says that it is slow: the quick ones that wait go first. Who stops
        waiting does not undo the step. What takes seconds is for `write`, in a thread.
        """

    async def seen(self, step: Step[T]) -> T:
        """Do as `read`, without holding up the event loop."""

    def migrate(self, step: Step[T]) -> T:
        """Run a step that makes tables anew; meanwhile rows may refer to nothing. Nobody else writes."""

    def listen(self, callback: Callback) -> Callable[[], None]:
        """Call back, from some thread, with each study for which the bell is rung; return what ends that.

        None says: there may have been rings that nobody heard, look for yourself. It comes first of all.
        """

    def close(self) -> None:
        """Finish what is under way and let go of the database."""


class Attendance:
    """Who is inside. Closing waits until all have left; then nobody comes in any more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_closed = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Be inside meanwhile. Raises DatabaseUnavailable when it is closed."""
        with self._changed:
            if self._is_closed:
                raise DatabaseUnavailable(STOPPING)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: not self._inside)


class Readers:
    """A few connections and threads for steps that read."""

    def __init__(self, engine: Engine, *, most: int, seconds: float) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(most, "reader")
        self._seconds = seconds
        self._attendance = Attendance()

    def read(self, step: Step[T]) -> T:
        with self._attendance.inside(), explained():
            try:
                return run(self._engine, step)
            except OperationalError as error:
                if code_of(error) in STOPPED:
                    raise ReadTooLong(self._seconds) from error
                raise

    async def seen(self, step: Step[T]) -> T:
        return await in_thread(self._threads, self.read, step)

    def close(self) -> None:
        self._threads.shutdown()
        self._attendance.close()
        self._engine.dispose()


def run(engine: Engine, step: Step[T]) -> T:
    """Run a step in a transaction of its own, and again after a failure that kept nothing and may pass."""
    for runs in itertools.count(1):
        is_committing = False
        try:
            with engine.begin() as transaction:
                answer = step(transaction)
                flush(transaction)
                is_committing = True
        except DBAPIError as error:
            was_cut_off = error.connection_invalidated and not is_committing  # else it may have been kept
            if runs == MOST_RUNS or not (was_cut_off or code_of(error) in COLLIDED):
                raise
        else:
            return answer
    raise AssertionError("counting does not end")


async def in_thread(threads: ThreadPoolExecutor, verb: Callable[[Step[T]], T], step: Step[T]) -> T:
    """Await the answer of a step that one of the threads runs. Raises DatabaseUnavailable after the last."""
    try:
        answer = asyncio.get_running_loop().run_in_executor(threads, verb, step)
    except RuntimeError as error:
        raise DatabaseUnavailable(STOPPING) from error
    return await answer


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


def code_of(error: BaseException) -> Any:
    """Return the driver's own code of an error, None without one: both say more than the class does."""
    original = getattr(error, "orig", None)
    return getattr(original, "sqlstate", None) or getattr(original, "sqlite_errorname", None)
