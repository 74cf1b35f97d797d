"""What the server's room contributes to `thiessen doctor`."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

from thiessen.cli.checks import Asked, Finding, on_disk


def checks(asked: Asked) -> Iterator[Finding]:
    """Yield what is found of the settings and of the database."""
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable
    from app.storage.check import file_of, must_be_usable

    try:
        settings = read_settings(os.environ, database=asked.database)
        address = settings.database
        file = file_of(address)
    except (WrongSetting, DatabaseUnavailable) as error:
        yield Finding("settings", "fault", str(error))
        return
    if asked.server is None:
        yield _port(settings.host, settings.port)
    if file is not None:
        yield on_disk(
            "database folder", file.parent, "Make room, or keep the database elsewhere: --database."
        )
    if file is not None and file.exists() and not os.access(file, os.W_OK):
        told = f"{file} cannot be written by user {os.geteuid()}."
        yield Finding(
            "database", "fault", told, "Let the user of the server own it, and the files beside it."
        )
        return
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


def _port(host: str, port: int) -> Finding:
    """Say whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            cure = (
                "A server that runs there? --server looks at it. Else choose another: thiessen serve --port."
            )
            return Finding("port", "warning", f"{host}:{port} cannot be had: {error.strerror}.", cure)
    return Finding("port", "ok", f"{host}:{port} is free." if port else "any free one.")
