"""Statements of which each ask and tell runs a dozen."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Dialect, Insert, Select, Update, literal_column
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.visitors import replacement_traverse
from sqlalchemy.types import TypeEngine

from app.storage.store import Transaction

Row = tuple[Any, ...]
Values = Mapping[str, Any]
Process = Callable[[Any], Any] | None  # between our kind of a value and the driver's


class Prepared:
    """A statement that is compiled once for each kind of database, and run by the driver itself.

    SQLAlchemy's own way builds the context of each execution anew, which costs several times what SQLite
    does. Rows are plain tuples here, in the order of the columns.
    """

    def __init__(self, statement: Select[Any] | Insert | Update, *columns: str) -> None:
        """Take a statement; of an INSERT also the columns whose values will be given."""
        self._statement = statement
        self._columns = columns or None
        self._compiled: dict[str, _Compiled] = {}

    def run(self, tx: Transaction, values: Values) -> None:
        """Run it for what it writes."""
        self.every(tx, values)

    def run_each(self, tx: Transaction, each: Iterable[Values]) -> None:
        """Run it once with each of the values."""
        compiled = self._for(tx.dialect)
        cursor: Any = tx.connection.cursor()
        try:
            cursor.executemany(compiled.text, [compiled.parameters(values) for values in each])
        except tx.dialect.loaded_dbapi.Error as error:
            raise _explained(tx, compiled, error) from error

    def every(self, tx: Transaction, values: Values) -> list[Row]:
        """Return all rows."""
        compiled = self._for(tx.dialect)
        driver: Any = tx.connection.driver_connection
        try:
            cursor = driver.execute(compiled.text, compiled.parameters(values))
            rows: list[Row] = cursor.fetchall() if compiled.types else []
        except tx.dialect.loaded_dbapi.Error as error:
            raise _explained(tx, compiled, error) from error
        return compiled.ours(rows, cursor, tx.dialect) if rows else rows

    def one(self, tx: Transaction, values: Values) -> Row:
        """Return the only row."""
        (row,) = self.every(tx, values)
        return row

    def first(self, tx: Transaction, values: Values) -> Row | None:
        """Return the first row, None when there is none."""
        rows = self.every(tx, values)
        return rows[0] if rows else None

    def _for(self, dialect: Dialect) -> "_Compiled":
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = self._compile(dialect)
        return compiled

    def _compile(self, dialect: Dialect) -> "_Compiled":
        statement: Any = replacement_traverse(self._statement, {}, _written_out)
        compiled = statement.compile(dialect=dialect, column_keys=self._columns)
        binds = {name: compiled.binds[name] for name in compiled.params}
        return _Compiled(
            text=str(compiled),
            order=compiled.positiontup,
            constants={name: bind.value for name, bind in binds.items() if not bind.required},
            binds={
                name: process
                for name, bind in binds.items()
                if (process := bind.type.dialect_impl(dialect).bind_processor(dialect))
            },
            types=[column.type.dialect_impl(dialect) for column in self._statement.exported_columns],
        )


def _written_out(element: Any, **_: Any) -> ColumnElement[Any] | None:
    """Return a constant as part of the text.

    A planner sees then that an index of some rows only will do; SQLite would plan anew for each value.
    """
    if not isinstance(element, BindParameter) or element.required:
        return None
    if isinstance(element.value, str):
        return literal_column("'" + element.value.replace("'", "''") + "'", element.type)
    if isinstance(element.value, int) and not isinstance(element.value, bool):
        return literal_column(str(element.value), element.type)
    return None


@dataclass(slots=True)
class _Compiled:
    """A statement in the words of one kind of database."""

    text: str
    order: list[str] | None  # of the parameters, where the driver wants them by place
    constants: Values
    binds: Mapping[str, Callable[[Any], Any]]
    types: list[TypeEngine[Any]]
    results: list[Process] | None = None  # known when the driver has told what it returns

    def parameters(self, values: Values) -> list[Any] | dict[str, Any]:
        """Return the values as the driver wants them."""
        told = {**self.constants, **values}
        for name, process in self.binds.items():
            told[name] = process(told[name])
        return told if self.order is None else [told[name] for name in self.order]

    def ours(self, rows: list[Row], cursor: Any, dialect: Dialect) -> list[Row]:
        """Return rows with values of our kinds."""
        if self.results is None:
            told = (column[1] for column in cursor.description)  # which costs: asked for once
            self.results = [
                kind.result_processor(dialect, of) for kind, of in zip(self.types, told, strict=True)
            ]
        results = self.results
        if not any(results):
            return rows
        return [
            tuple(
                value if process is None else process(value)
                for value, process in zip(row, results, strict=True)
            )
            for row in rows
        ]


def _explained(tx: Transaction, compiled: _Compiled, error: Exception) -> BaseException:
    """Return the error as SQLAlchemy would raise it; a connection that is gone is not used again."""
    dialect = tx.dialect
    driver: Any = error
    is_gone = dialect.is_disconnect(driver, tx.connection.dbapi_connection, None)
    if is_gone:
        tx.invalidate(error)
    return DBAPIError.instance(
        compiled.text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        connection_invalidated=is_gone,
        dialect=dialect,
    )
