"""Steps that are committed together, and what becomes of them."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import Connection, RootTransaction, text
from sqlalchemy.exc import DBAPIError, OperationalError

from app import failpoint, meters
from app.storage import bell
from app.storage.prepared import Prepared, flush
from app.storage.store import DatabaseUnavailable, Step, Transaction, code_of, explained

Outcome = tuple[Any, BaseException | None]  # of a step: its answer, or what it raised
Waiter = asyncio.Future[Outcome]
Waiting = tuple[Step[Any], Waiter | None]

LARGEST: Final = 64  # steps
LONGEST: Final = 0.005  # seconds for which steps are added
# SQLAlchemy's own savepoints cost ten times more.
_SAVEPOINT, _UNDO, _RELEASE = (
    Prepared(text(f"{verb} step").columns()) for verb in ("SAVEPOINT", "ROLLBACK TO", "RELEASE")
)
_UNDONE: Final = "undone"  # on a connection: what to do if its transaction comes to nothing


def if_undone(tx: Transaction, key: object, forget: Callable[[], None]) -> None:
    """Call back, once for each key, if the group of this step comes to nothing.

    For who learns, in a step, what others of its group have written. A step that is run alone sees nothing
    but what is committed.
    """
    if (undone := tx.info.get(_UNDONE)) is not None:
        undone[key] = forget


class Group:
    """Steps that are committed together, each in a savepoint of its own."""

    def __init__(self, left_for: Collection[str] = ()) -> None:
        """Take the codes of failures for which a step is left to be run alone; without any, none is."""
        self.outcomes: list[Outcome] = []
        self.left: list[Waiting] = []  # steps that nobody has run
        self.rung: set[int] = set()
        self._left_for = left_for
        self._waiters: list[Waiter | None] = []
        self._undone: dict[object, Callable[[], None]] = {}
        self._transaction: RootTransaction | None = None
        self._has_saved = False
        self._began = time.perf_counter()

    def write(self, connect: Callable[[], Connection], steps: Iterator[Waiting]) -> None:
        """Run the steps; what one of them raises undoes that one alone, unless the database has failed."""
        taken: list[Waiting] = []
        try:
            with explained():
                connection = connect()
                self._transaction = connection.begin()
                self._undone = connection.info[_UNDONE] = {}
                for each in steps:
                    taken.append(each)
                    if len(taken) == 2:  # the first is written, the second not yet
                        failpoint.reached("half-a-group")
                    self._take(each, connection)
        except BaseException as error:  # noqa: BLE001 - it belongs to those who wait, and who gets it
            taken += steps
            self._fail([(None, error)] * len(taken))
            self._waiters = [waiter for _, waiter in taken]
            if self._left_for:
                self.left, self._waiters, self.outcomes = taken, [], []

    def commit(self) -> None:
        """Make it last; only then may anybody be told."""
        if self._transaction is None:
            return
        try:
            with explained():
                self._transaction.commit()
        except BaseException as error:  # noqa: BLE001 - as above
            self._fail([(None, error)] * len(self._waiters))
        else:
            meters.committed(len(self.outcomes), time.perf_counter() - self._began)

    def tell(self) -> None:
        """Wake who waits."""
        tell(zip(self._waiters, self.outcomes, strict=True))

    def _take(self, each: Waiting, connection: Connection) -> None:
        """Run a step; what it wrote before raising is undone, and its ringing unheard.

        A database that fails (disk full, say) is not the step's own refusal: it ends the whole group.
        """
        step, waiter = each
        is_first = not self.outcomes  # which needs no savepoint: nothing was written before it
        bell.take(connection)  # what was rung by a step that did not count
        if not is_first:
            self._save(connection)
        outcome: Outcome | None = None
        try:
            answer = step(connection)
            flush(connection)
            outcome = answer, None
        except (OperationalError, DatabaseUnavailable) as error:
            if code_of(error) not in self._left_for:
                raise
        except Exception as error:  # noqa: BLE001 - it belongs to the caller of the step, who gets it
            outcome = None, error
        if outcome is not None and outcome[1] is None:
            self.rung.update(bell.take(connection))
        elif is_first:
            self._begin_anew(connection)
        else:
            with suppress(DBAPIError):  # whatever else it left to be run comes to nothing, too
                flush(connection)
            _UNDO.every(connection, {})
        if outcome is None:
            self.left.append(each)
        else:
            self._waiters.append(waiter)
            self.outcomes.append(outcome)

    def _save(self, connection: Connection) -> None:
        """Begin a savepoint in the place of the last; the commit releases the last of all."""
        if self._has_saved:
            _RELEASE.run(connection, {})
        _SAVEPOINT.run(connection, {})
        self._has_saved = True

    def _begin_anew(self, connection: Connection) -> None:
        if self._transaction is not None:
            self._transaction.rollback()
        self._transaction = connection.begin()

    def _fail(self, outcomes: list[Outcome]) -> None:
        """Undo everything: nobody was served."""
        self.outcomes = outcomes
        self.rung.clear()
        for forget in self._undone.values():
            forget()
        if self._transaction is not None:
            with suppress(DBAPIError):  # it is undone already
                self._transaction.close()
            self._transaction = None


def opened(outcome: Outcome) -> Any:
    """Return the answer, or raise what the step raised."""
    answer, refused = outcome
    if refused is not None:
        raise refused
    return answer


def tell(told: Iterable[tuple[Waiter | None, Outcome]]) -> None:
    """Wake who waits: an event loop once for all that wait on it."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Waiter, Outcome]]] = {}
    for waiter, outcome in told:
        if waiter is not None:
            loops.setdefault(waiter.get_loop(), []).append((waiter, outcome))
    for loop, of_loop in loops.items():
        with suppress(RuntimeError):  # the loop has ended, and who waited with it
            loop.call_soon_threadsafe(_tell_in_loop, of_loop)


def _tell_in_loop(told: list[tuple[Waiter, Outcome]]) -> None:
    for waiter, outcome in told:
        if not waiter.cancelled():
            waiter.set_result(outcome)
