"""Prepared statements on libpq itself, which psycopg offers too: its cursors cost twice as much.

Each answer is waited for, and the waiting is most of what a short statement takes. So statements whose answer
nobody reads are kept back, and go to the server together with the next one whose answer somebody does.
"""

import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from psycopg import Connection, RawCursor, errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy import Connection as Transaction
from sqlalchemy import Engine, event
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.types import Float, TypeEngine

DIALECT: Final = psycopg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
"""Compiles a statement as libpq takes it."""

_INFERRED: Final = 0
_FLOAT8: Final = 701  # said, as the server takes a number that is added to a whole one for a whole one
_LINK: Final = "libpq"  # on a connection
_DONE: Final = frozenset({ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK})

_numbers = count()

Answer = tuple[list[Any], Callable[[], list[int]]]
"""The rows, and what tells the type of each column."""


@dataclass(slots=True)
class Statement:
    """A statement to be prepared on each connection that runs it."""

    text: str
    kinds: Sequence[TypeEngine[Any]]  # of the parameters
    name: bytes = field(default_factory=lambda: b"thiessen_%d" % next(_numbers))

    def run(self, tx: Transaction, parameters: Sequence[Any]) -> Answer:
        """Return the answer. Raises psycopg's errors, also those of what was kept back."""
        link = _link(tx)
        if link.has_begun:
            return link.run(self, parameters)
        cursor = RawCursor(link.driver).execute(self.text, parameters)  # it begins as it was told to
        described = cursor.description or []
        return cursor.fetchall() if described else [], lambda: [column.type_code for column in described]

    def keep_back(self, tx: Transaction, parameters: Sequence[Any]) -> None:
        """Let it go to the server with the next statement that is run, or by `flush`."""
        link = _link(tx)
        if link.has_begun:
            link.keep_back(self, parameters)
        else:
            self.run(tx, parameters)


def flush(tx: Transaction) -> None:
    """Run what was kept back. Raises psycopg's errors."""
    link: _Link | None = tx.info.get(_LINK)
    if link is not None:
        link.flush()


def watch(engine: Engine, flush: Callable[[Transaction], None]) -> None:
    """Keep the order of what is kept back and of what SQLAlchemy runs on a connection itself."""
    event.listen(engine, "before_cursor_execute", lambda tx, *_: flush(tx))
    event.listen(engine, "rollback", _forget)
    event.listen(engine, "commit", _insist_on_nothing_kept)


def _forget(tx: Transaction) -> None:
    if not tx.invalidated and (link := tx.info.get(_LINK)):
        link.forget()


def _insist_on_nothing_kept(tx: Transaction) -> None:
    if (link := tx.info.get(_LINK)) and link.keeps_something:
        raise AssertionError("statements were kept back and not run; the commit would lose them")


class _Link:
    """A connection, what is prepared on it, and what is kept back."""

    def __init__(self, driver: Connection[Any]) -> None:
        self.driver = driver
        self._libpq = driver.pgconn
        self._prepared: set[bytes] = set()
        self._values = Transformer(driver)
        self._kept: list[tuple[Statement, Any]] = []  # with the parameters as they are sent
        self._readable, self._ready = select.poll(), select.poll()
        self._readable.register(driver.fileno(), select.POLLIN)
        self._ready.register(driver.fileno(), select.POLLIN | select.POLLOUT)

    @property
    def has_begun(self) -> bool:
        """Whether a transaction is under way here; a plain one is begun, as psycopg would."""
        if self._kept or self._libpq.transaction_status != TransactionStatus.IDLE:
            return True
        if self.driver.isolation_level is not None or self.driver.read_only is not None:
            return False
        self.keep_back(_BEGIN, [])
        return True

    @property
    def keeps_something(self) -> bool:
        return bool(self._kept)

    def keep_back(self, statement: Statement, parameters: Sequence[Any]) -> None:
        self._prepare(statement)
        self._kept.append((statement, self._dumped(parameters)))

    def run(self, statement: Statement, parameters: Sequence[Any]) -> Answer:
        """Run a statement within a transaction, behind what was kept back."""
        self._prepare(statement)
        if self._kept:
            self._kept.append((statement, self._dumped(parameters)))
            result = self._sent_together()
        else:
            result = _checked(self._libpq.exec_prepared(statement.name, self._dumped(parameters)))
        if not result.nfields:
            return [], list
        self._values.set_pgresult(result)
        rows = self._values.load_rows(0, result.ntuples, tuple)
        return rows, lambda: [result.ftype(column) for column in range(result.nfields)]

    def flush(self) -> None:
        if self._kept:
            self._sent_together()

    def forget(self) -> None:
        self._kept.clear()

    def _prepare(self, statement: Statement) -> None:
        if statement.name not in self._prepared:
            types = [_FLOAT8 if isinstance(kind, Float) else _INFERRED for kind in statement.kinds]
            _checked(self._libpq.prepare(statement.name, statement.text.encode(), types))
            self._prepared.add(statement.name)

    def _dumped(self, parameters: Sequence[Any]) -> Any:
        return self._values.dump_sequence(parameters, [PyFormat.TEXT] * len(parameters))

    def _sent_together(self) -> Any:
        """Send what was kept back in one go; return the last result. None is run behind one that fails."""
        kept, self._kept = self._kept, []
        self._libpq.enter_pipeline_mode()
        for statement, parameters in kept:
            self._libpq.send_query_prepared(statement.name, parameters)
        self._libpq.pipeline_sync()
        results = self._results()
        self._libpq.exit_pipeline_mode()
        for result in results:
            _checked(result)
        return results[-1]

    def _results(self) -> list[Any]:
        """Return the result of each statement, up to the end of the pipeline."""
        while self._libpq.flush():  # the server may wait for us to read before it takes more
            self._ready.poll()
            self._libpq.consume_input()
        results: list[Any] = []
        while True:
            while self._libpq.is_busy():
                self._readable.poll()
                self._libpq.consume_input()
            result = self._libpq.get_result()
            if result is None:  # the end of one statement
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                return results
            results.append(result)


def _link(tx: Transaction) -> _Link:
    link: _Link | None = tx.info.get(_LINK)
    if link is None:
        link = tx.info[_LINK] = _Link(tx.connection.driver_connection)  # type: ignore[arg-type]
    return link


def _checked(result: Any) -> Any:
    if result.status in _DONE:
        return result
    error = errors.error_from_result(result)
    if error.sqlstate is None:  # libpq's own words: the connection is lost, which psycopg would say so
        raise errors.OperationalError(str(error))
    raise error


_BEGIN: Final = Statement("BEGIN", [])
