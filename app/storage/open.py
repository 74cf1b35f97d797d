"""Open a database by its address."""

import re

from sqlalchemy import text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.storage.store import READ_SECONDS, DatabaseUnavailable, Store


def open_store(url: str, *, read_seconds: float = READ_SECONDS, sqlite_synchronous: str = "full") -> Store:
    """Open the database at `url`. Raises DatabaseUnavailable."""
    parsed = parsed_address(url)
    store, remedy = _opened(parsed, read_seconds, sqlite_synchronous)
    try:
        store.read(lambda tx: tx.execute(text("SELECT 1")))
    except DatabaseUnavailable as error:
        store.close()
        raise DatabaseUnavailable(
            f"Cannot open {parsed.render_as_string(hide_password=True)}. {error} {remedy}"
        ) from error
    return store


def parsed_address(url: str) -> URL:
    """Return the parts of an address. Raises DatabaseUnavailable when it is not one of ours."""
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


def _opened(url: URL, read_seconds: float, synchronous: str) -> tuple[Store, str]:
    if url.get_backend_name() == "sqlite":
        from app.storage.sqlite import SQLiteStore

        return SQLiteStore(url, read_seconds, synchronous), "Check the file."
    from app.storage.postgresql import PostgresStore

    return PostgresStore(url, read_seconds), "Check the address, and that it runs."
