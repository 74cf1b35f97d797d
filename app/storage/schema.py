"""The schema and its migrations."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, inspect, text

import app
from app.storage.store import DatabaseUnavailable, Store, explained

MIGRATING: Final = 7_401_995  # the PostgreSQL advisory lock that lets one server at a time migrate


def prepare(store: Store) -> None:
    """Create the schema of an empty database, or check an existing one. Raises DatabaseUnavailable."""
    with explained(), store.engine.begin() as connection:
        found = _found(connection)
        if found is None:
            _upgrade(connection)
        elif found != revisions()[-1]:
            raise DatabaseUnavailable(
                f"The database is at schema {found}, this server needs {revisions()[-1]}. "
                "Run: thiessen db upgrade"
            )


def upgrade(store: Store) -> str:
    """Bring any earlier schema of ours up to date; return its revision. Raises DatabaseUnavailable."""
    with explained(), store.engine.connect() as connection, _references_unchecked(connection):
        with connection.begin():
            _found(connection)
            _upgrade(connection)
    return revisions()[-1]


@contextmanager
def _references_unchecked(connection: Connection) -> Iterator[None]:
    """SQLite changes a table by making it anew: meanwhile the rows that refer to it refer to nothing."""
    if connection.dialect.name != "sqlite":
        yield
        return
    database: Any = connection.connection.dbapi_connection  # outside of any transaction, or it is ignored
    database.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        database.execute("PRAGMA foreign_keys=ON")


def revisions() -> list[str]:
    """Return every revision that this version knows, oldest first."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_migrations()))
    steps = ScriptDirectory.from_config(config).walk_revisions()
    return [step.revision for step in steps][::-1]


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_migrations()))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _migrations() -> Path:
    """They lie inside `app` in a wheel, beside it in the repository."""
    home = Path(app.__path__[0])
    inside = home / "migrations"
    return inside if inside.is_dir() else home.parent / "migrations"


def _found(connection: Connection) -> str | None:
    """Return the database's revision, None when it is empty. Raises DatabaseUnavailable if it is not ours."""
    if connection.dialect.name == "postgresql":  # one server at a time looks and migrates
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise DatabaseUnavailable(
            f"The database holds tables that are not ours ({', '.join(sorted(tables)[:3])}). "
            "Give Thiessen a database of its own."
        )
    found: str = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    if found not in revisions():
        raise DatabaseUnavailable(
            f"The database is at schema {found}, which this version does not know. It belongs to a newer "
            "Thiessen: upgrade this server. Or to another program: give Thiessen a database of its own."
        )
    return found
