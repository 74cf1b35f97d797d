"""Statements of which each ask and tell runs a dozen."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Dialect,
    Insert,
    Select,
    TextualSelect,
    Update,
    literal_column,
)
from sqlalchemy import Connection as Transaction
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.visitors import replacement_traverse
from sqlalchemy.types import TypeEngine

Row = tuple[Any, ...]
Values = Mapping[str, Any]
Process = Callable[[Any], Any] | None  # between our kind of a value and the driver's
Kinds = Callable[[], list[Any]]  # of columns, as the driver tells them, which costs: asked for once
Run = Callable[[Transaction, Sequence[Any]], tuple[list[Row], Kinds]]
KeepBack = Callable[[Transaction, Sequence[Any]], object]


class Prepared:
    """A statement that is compiled once for each kind of database, and run by the driver itself.

    SQLAlchemy's own way builds the context of each execution anew, which costs several times what SQLite
    does. Rows are plain tuples here, in the order of the columns.
    """

    def __init__(self, statement: Select[Any] | Insert | Update | TextualSelect, *columns: str) -> None:
        """Take a statement; of an INSERT also the columns whose values will be given."""
        self._statement = statement
        self._columns = columns or None
        self._compiled: dict[str, _Compiled] = {}

    def run(self, tx: Transaction, values: Values) -> None:
        """Run it for what it writes; where waiting costs, with the next that is asked for, or by `flush`.

        What the database refuses of it is raised there.
        """
        compiled = self._on(tx)
        try:
            compiled.keep_back(tx, compiled.parameters(values))
        except tx.dialect.loaded_dbapi.Error as error:
            raise _explained(tx, compiled.text, error) from error

    def every(self, tx: Transaction, values: Values) -> list[Row]:
        """Return all rows, now."""
        compiled = self._on(tx)
        try:
            rows, kinds = compiled.run(tx, compiled.parameters(values))
        except tx.dialect.loaded_dbapi.Error as error:
            raise _explained(tx, compiled.text, error) from error
        return compiled.ours(rows, kinds, tx.dialect) if rows else rows

    def one(self, tx: Transaction, values: Values) -> Row:
        """Return the only row."""
        (row,) = self.every(tx, values)
        return row

    def first(self, tx: Transaction, values: Values) -> Row | None:
        """Return the first row, None when there is none."""
        rows = self.every(tx, values)
        return rows[0] if rows else None

    def _on(self, tx: Transaction) -> "_Compiled":
        return self._compiled.get(tx.dialect.name) or self._compile(tx.dialect)

    def _compile(self, dialect: Dialect) -> "_Compiled":
        words, runners = _on(dialect)
        statement: Any = replacement_traverse(self._statement, {}, _written_out)
        compiled = statement.compile(dialect=words, column_keys=self._columns)
        binds = [compiled.binds[name] for name in compiled.positiontup]
        kinds = [bind.type.dialect_impl(dialect) for bind in binds]
        run, keep_back = runners(str(compiled), kinds)
        made = self._compiled[dialect.name] = _Compiled(
            text=str(compiled),
            run=run,
            keep_back=keep_back,
            order=[(bind.key, kind.bind_processor(dialect)) for bind, kind in zip(binds, kinds, strict=True)],
            constants={bind.key: bind.value for bind in binds if not bind.required},
            types=[column.type.dialect_impl(dialect) for column in self._statement.exported_columns],
        )
        return made


def flush(tx: Transaction) -> None:
    """Run what `Prepared.run` has left to be run: before the commit, or before others use the connection."""
    if tx.dialect.name == "postgresql":
        from app.storage import libpq

        try:
            libpq.flush(tx)
        except tx.dialect.loaded_dbapi.Error as error:
            raise _explained(tx, "statements sent together", error) from error


def _on(dialect: Dialect) -> tuple[Dialect, Callable[[str, Sequence[TypeEngine[Any]]], tuple[Run, KeepBack]]]:
    """Return what to compile for, and what makes of the text, and the kinds of its parameters, what runs."""
    if dialect.name == "postgresql":
        from app.storage import libpq

        def by_libpq(text: str, kinds: Sequence[TypeEngine[Any]]) -> tuple[Run, KeepBack]:
            statement = libpq.Statement(text, kinds)
            return statement.run, statement.keep_back

        return libpq.DIALECT, by_libpq
    return dialect, lambda text, _: (_by_sqlite(text), _by_sqlite(text))


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
    run: Run
    keep_back: KeepBack
    order: list[tuple[str, Process]]  # of the parameters
    constants: Values
    types: list[TypeEngine[Any]]
    results: list[tuple[int, Callable[[Any], Any]]] | None = None  # known when the driver told of columns

    def parameters(self, values: Values) -> list[Any]:
        """Return the values as the driver wants them."""
        told = {**self.constants, **values} if self.constants else values
        return [process(told[name]) if process else told[name] for name, process in self.order]

    def ours(self, rows: list[Row], kinds: Kinds, dialect: Dialect) -> list[Row]:
        """Return rows with values of our kinds."""
        if self.results is None:
            processes = [
                kind.result_processor(dialect, of) for kind, of in zip(self.types, kinds(), strict=True)
            ]
            self.results = [(place, process) for place, process in enumerate(processes) if process]
        return [self._row(row, self.results) for row in rows] if self.results else rows

    def _row(self, row: Row, results: Iterable[tuple[int, Callable[[Any], Any]]]) -> Row:
        values = list(row)
        for place, process in results:
            values[place] = process(values[place])
        return tuple(values)


def _by_sqlite(text: str) -> Run:
    """Return what runs a statement with sqlite3, which keeps what it has prepared."""

    def run(tx: Transaction, parameters: Sequence[Any]) -> tuple[list[Row], Kinds]:
        driver: Any = tx.connection.driver_connection
        cursor = driver.execute(text, parameters)
        return cursor.fetchall(), lambda: [column[1] for column in cursor.description]

    return run


def _explained(tx: Transaction, text: str, error: Exception) -> BaseException:
    """Return the error as SQLAlchemy would raise it; a connection that is gone is not used again."""
    dialect = tx.dialect
    driver: Any = error
    is_gone = dialect.is_disconnect(driver, tx.connection.dbapi_connection, None)
    if is_gone:
        tx.invalidate(error)
    return DBAPIError.instance(
        text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        connection_invalidated=is_gone,
        dialect=dialect,
    )
