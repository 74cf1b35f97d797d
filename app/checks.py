"""What the server's room contributes to `thiessen doctor`."""

import os
from collections.abc import Iterator
from pathlib import Path

from thiessen.cli.checks import Asked, Finding, on_disk


def checks(asked: Asked) -> Iterator[Finding]:
    """Yield what is found of the settings and of the database."""
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable
    from app.storage.check import file_of, must_be_usable

    try:
        address = read_settings(os.environ, database=asked.database).database
        file = file_of(address)
    except (WrongSetting, DatabaseUnavailable) as error:
        yield Finding("settings", "fault", str(error))
        return
    if file is not None:
        yield on_disk(
            "database folder", file.parent, "Make room, or keep the database elsewhere: --database."
        )
    if file is not None and asked.database is None and not file.exists():
        yield Finding("database", "ok", f"there is none yet; thiessen serve makes {file}.")
        return
    try:
        schema = must_be_usable(address)
    except DatabaseUnavailable as error:
        yield Finding("database", "fault", str(error), _cure(file))
    else:
        yield Finding(
            "database", "ok", f"it answers, at schema {schema}. thiessen db check looks for damage."
        )


def _cure(file: Path | None) -> str:
    if file is None:
        return "Check the address, and that PostgreSQL runs."
    return "" if file.exists() else f"There is no {file}: check --database, or let thiessen serve make it."
