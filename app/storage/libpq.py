"""Prepared statements on libpq itself, which psycopg offers too: its cursors cost twice as much."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from psycopg import Connection, RawCursor, errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.types import Float, TypeEngine

from app.storage.store import Transaction

DIALECT: Final = psycopg.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
"""Compiles a statement as libpq takes it."""

_INFERRED: Final = 0
_FLOAT8: Final = 701  # said, as the server takes a number that is added to a whole one for a whole one
_LINK: Final = "libpq"  # on a connection

_numbers = count()


@dataclass(slots=True)
class Statement:
    """A statement to be prepared on each connection that runs it."""

    text: str
    kinds: Sequence[TypeEngine[Any]]  # of the parameters
    name: bytes = field(default_factory=lambda: b"thiessen_%d" % next(_numbers))

    def run(self, tx: Transaction, parameters: Sequence[Any]) -> tuple[list[Any], Callable[[], list[int]]]:
        """Return the rows, and what tells the type of each column. Raises psycopg's errors."""
        link: _Link | None = tx.info.get(_LINK)
        if link is None:
            link = tx.info[_LINK] = _Link(tx.connection.driver_connection)  # type: ignore[arg-type]
        if link.has_begun:
            return link.run(self, parameters)
        cursor = RawCursor(link.driver).execute(self.text, parameters)  # it begins as it was told to
        described = cursor.description or []
        return cursor.fetchall() if described else [], lambda: [column.type_code for column in described]


class _Link:
    """A connection, and what is prepared on it."""

    def __init__(self, driver: Connection[Any]) -> None:
        self.driver = driver
        self._prepared: set[bytes] = set()
        self._values = Transformer(driver)

    @property
    def has_begun(self) -> bool:
        return self.driver.pgconn.transaction_status == TransactionStatus.INTRANS

    def run(
        self, statement: Statement, parameters: Sequence[Any]
    ) -> tuple[list[Any], Callable[[], list[int]]]:
        """Run a statement within a transaction."""
        libpq = self.driver.pgconn
        if statement.name not in self._prepared:
            types = [_FLOAT8 if isinstance(kind, Float) else _INFERRED for kind in statement.kinds]
            _checked(libpq.prepare(statement.name, statement.text.encode(), types))
            self._prepared.add(statement.name)
        told: Any = self._values.dump_sequence(parameters, [PyFormat.TEXT] * len(parameters))
        result = _checked(libpq.exec_prepared(statement.name, told))
        if not result.nfields:
            return [], list
        self._values.set_pgresult(result)
        rows = self._values.load_rows(0, result.ntuples, tuple)
        return rows, lambda: [result.ftype(column) for column in range(result.nfields)]


def _checked(result: Any) -> Any:
    if result.status not in {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}:
        raise errors.error_from_result(result)
    return result
