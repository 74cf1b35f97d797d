"""Does a database hold what it must? Asked on a connection that only reads, beside a running server."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import URL

from app.storage import schema
from app.storage.open import parsed_address
from app.storage.store import DatabaseUnavailable, Transaction, explained

INVARIANTS: Final = {
    "A study's counter of trials is not their number": """
        SELECT s.name, s.trials, (SELECT count(*) FROM trials t WHERE t.study_id = s.id) FROM studies s
        WHERE s.trials <> (SELECT count(*) FROM trials t WHERE t.study_id = s.id)""",
    "A study's trials are not numbered from 0 without a gap": """
        SELECT s.name, count(*), max(t.number) FROM studies s JOIN trials t ON t.study_id = s.id
        GROUP BY s.id, s.name HAVING min(t.number) <> 0 OR max(t.number) <> count(*) - 1""",
    "A study's counter of observations is not the number of the last": """
        SELECT s.name, s.observations, coalesce(max(o.seq), 0)
        FROM studies s LEFT JOIN observations o ON o.study_id = s.id
        GROUP BY s.id, s.name, s.observations HAVING coalesce(max(o.seq), 0) <> s.observations""",
    "A study's observations are not numbered from 1 without a gap": """
        SELECT s.name, count(*), max(o.seq) FROM studies s JOIN observations o ON o.study_id = s.id
        GROUP BY s.id, s.name HAVING min(o.seq) <> 1 OR max(o.seq) <> count(*)""",
    "An observation is of no trial": """
        SELECT s.name, o.seq, o.trial FROM observations o JOIN studies s ON s.id = o.study_id
        WHERE NOT EXISTS (SELECT 1 FROM trials t WHERE t.study_id = o.study_id AND t.number = o.trial)""",
    "A trial's counter of attempts is not their number": """
        SELECT s.name, t.number, t.attempts FROM trials t JOIN studies s ON s.id = t.study_id
        WHERE t.attempts <> (SELECT count(*) FROM attempts a WHERE a.trial_id = t.id)""",
}
"""Each must find nothing; what it finds begins with the name of the study."""
MOST_EXAMPLES: Final = 3


def faults(url: str) -> list[str]:
    """Return a sentence for each thing that is wrong, all seen at one moment. Raises DatabaseUnavailable."""
    with _looking(parsed_address(url)) as tx:
        schema.must_be_current(tx)
        damaged = list(_damaged(tx)) if tx.dialect.name == "sqlite" else []
        return damaged or [fault for what, query in INVARIANTS.items() for fault in _broken(tx, what, query)]


def back_up(url: str, target: Path) -> None:
    """Copy a SQLite database as it is at one moment, whoever writes to it. Raises DatabaseUnavailable."""
    parsed = parsed_address(url)
    if parsed.get_backend_name() != "sqlite":
        shown = parsed.set(drivername="postgresql").render_as_string(hide_password=True)
        raise DatabaseUnavailable(
            f"PostgreSQL has its own way: pg_dump --format=custom --file={target} '{shown}'"
        )
    if target.exists():
        raise DatabaseUnavailable(f"{target} exists already. Name a new file.")
    unfinished = target.with_name(f"{target.name}.unfinished")
    with _looking(parsed) as tx:
        _copy(tx, unfinished)
    unfinished.rename(target)


@contextmanager
def _looking(url: URL) -> Iterator[Transaction]:
    """One transaction on a connection that cannot write, beside whoever owns the database."""
    engine = _sqlite(url) if url.get_backend_name() == "sqlite" else _postgresql(url)
    try:
        with explained(), engine.begin() as tx:
            if tx.dialect.name == "sqlite":
                tx.exec_driver_sql("BEGIN")
            yield tx
    finally:
        engine.dispose()


def _sqlite(url: URL) -> Engine:
    address = f"{Path(url.database or '').absolute().as_uri()}?mode=ro"
    return create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True, isolation_level=None)
    )


def _postgresql(url: URL) -> Engine:
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return create_engine(url.set(drivername="postgresql+psycopg"), execution_options=options)


def _copy(tx: Transaction, target: Path) -> None:
    source: Any = tx.connection.driver_connection
    try:
        with closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise DatabaseUnavailable(
            f"Cannot write {target}: {error}. Name a file where there is room."
        ) from error


def _damaged(tx: Transaction) -> Iterator[str]:
    said = tx.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    if said != ["ok"]:
        yield f"The file is damaged: {'; '.join(said[:MOST_EXAMPLES])}."
    for table, row, parent, _ in tx.exec_driver_sql("PRAGMA foreign_key_check").all():
        yield f"Row {row} of {table} belongs to a row of {parent} that is not there."


def _broken(tx: Transaction, what: str, query: str) -> Iterator[str]:
    found = tx.execute(text(query)).all()
    if found:
        examples = "; ".join(", ".join(map(str, row)) for row in found[:MOST_EXAMPLES])
        yield f"{what}: {len(found)} times, such as {examples}."
