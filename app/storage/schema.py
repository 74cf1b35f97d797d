"""The schema and its migrations."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import insert, inspect, select, text

import app
from app.domain.study import DEFAULT_PROJECT
from app.storage.store import DatabaseUnavailable, Store, Transaction
from app.storage.tables import clock, metadata, projects, schema_range

OLDEST: Final = "0008"  # the schema that a server must know to go on with a database of the newest
MIGRATING: Final = 7_401_995  # the PostgreSQL advisory lock that lets one server at a time migrate


def prepare(store: Store) -> None:
    """Create the schema of an empty database, or check an existing one. Raises DatabaseUnavailable."""

    def step(tx: Transaction) -> None:
        if _found(tx) is None:
            _create(tx)
        must_fit(tx)

    store.write(step)


def must_fit(tx: Transaction) -> str:
    """Return the schema, the newest that this version knows or a later one that lets its servers go on.

    Raises DatabaseUnavailable otherwise.
    """
    found = _found(tx)
    if found is None:
        raise DatabaseUnavailable("The database is empty. Run: thiessen serve")
    if found in revisions()[:-1]:
        raise DatabaseUnavailable(
            f"The database is at schema {found}, this server needs {revisions()[-1]}. "
            "Run: thiessen db upgrade"
        )
    if found != revisions()[-1] and _oldest(tx) not in revisions():
        raise DatabaseUnavailable(_unknown(found))
    return found


def upgrade(store: Store) -> tuple[str, str]:
    """Bring any earlier schema of ours up to date; return the newest, and the oldest that a server must know.

    Raises DatabaseUnavailable.
    """

    def step(tx: Transaction) -> tuple[str, str]:
        found = _found(tx)
        if found is not None and found not in revisions():
            raise DatabaseUnavailable(_unknown(found))
        _upgrade(tx)
        return revisions()[-1], OLDEST

    return store.migrate(step)


def revisions() -> list[str]:
    """Return every revision that this version knows, oldest first: each begins the name of its file."""
    return sorted(file.name.partition("_")[0] for file in (_migrations() / "versions").glob("*.py"))


def _create(tx: Transaction) -> None:
    """Make an empty database what all migrations would make of it: faster, and without alembic."""
    metadata.create_all(tx, checkfirst=False)
    tx.execute(insert(clock).values(id=1, offset_milliseconds=0))
    tx.execute(insert(schema_range).values(id=1, oldest=OLDEST))
    tx.execute(insert(projects).values(name=DEFAULT_PROJECT, created_at=datetime.fromtimestamp(0, UTC)))
    tx.exec_driver_sql(
        "CREATE TABLE alembic_version "
        "(version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY)"
    )
    tx.execute(text("INSERT INTO alembic_version VALUES (:newest)"), {"newest": revisions()[-1]})


def _upgrade(tx: Transaction) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_migrations()))
    config.attributes["connection"] = tx
    command.upgrade(config, "head")


def _migrations() -> Path:
    """They lie inside `app` in a wheel, beside it in the repository."""
    home = Path(app.__path__[0])
    inside = home / "migrations"
    return inside if inside.is_dir() else home.parent / "migrations"


def _found(tx: Transaction) -> str | None:
    """Return the database's revision, None when it is empty. Raises DatabaseUnavailable if it is not ours."""
    if tx.dialect.name == "postgresql":  # one server at a time looks and migrates
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
    tables = inspect(tx).get_table_names()
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise DatabaseUnavailable(
            f"The database holds tables that are not ours ({', '.join(sorted(tables)[:3])}). "
            "Give Thiessen a database of its own."
        )
    found: str = tx.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    return found


def _oldest(tx: Transaction) -> str | None:
    """Return the schema that a server must know at least, None where the database does not say."""
    if schema_range.name not in inspect(tx).get_table_names():
        return None
    oldest: str = tx.execute(select(schema_range.c.oldest)).scalar_one()
    return oldest


def _unknown(found: str) -> str:
    return (
        f"The database is at schema {found}, which this version does not know. It belongs to a newer "
        "Thiessen: upgrade this server. Or to another program: give Thiessen a database of its own."
    )
