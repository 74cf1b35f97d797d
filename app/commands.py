"""The server's part of the command line. Heavy packages are imported when a command runs."""

import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.terminal import say

if TYPE_CHECKING:
    from app.domain.access import Token
    from app.settings import Settings
    from app.storage import Store

PAGE: Final = 100  # tokens read at once

Database = Annotated[
    str | None,
    typer.Option(help="sqlite:///FILE or postgresql://USER@HOST/NAME.", show_default="sqlite:///thiessen.db"),
]


def register(commands: typer.Typer) -> None:
    """Add the server's commands."""
    commands.command()(serve)
    database = typer.Typer(help="Look after the database.", no_args_is_help=True)
    for command in (upgrade, check, backup):
        database.command()(command)
    commands.add_typer(database, name="db")
    token = typer.Typer(help="Make and revoke tokens, directly in the database.", no_args_is_help=True)
    token.command()(create)
    token.command("list")(list_)
    token.command()(revoke)
    commands.add_typer(token, name="token")


def serve(
    database: Database = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes any free one.", show_default="8000")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that serve; several need PostgreSQL.", show_default="1")
    ] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Serve beyond this machine without tokens.")
    ] = None,
) -> None:
    """Serve studies over HTTP, with the dashboard at /.

    Every option can also be set in the environment: THIESSEN_DATABASE, THIESSEN_HOST, THIESSEN_PORT,
    THIESSEN_WORKERS, THIESSEN_INSECURE. SIGTERM or Ctrl-C lets requests under way end and stops; a second
    one stops at once.

    Example: thiessen serve --database sqlite:///runs.db --port 8000
    """
    # What the search asks of BLAS pays in no second thread, and that would spin from the import of numpy on.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # modules are no garbage: to look for some while they are imported is a sixth of the start
    from app import logs
    from app.main import build
    from app.serving import serve as serve_one
    from app.serving import supervise
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable

    gc.freeze()
    gc.enable()
    try:
        settings = read_settings(
            os.environ, database=database, host=host, port=port, workers=workers, insecure=insecure
        )
        logs.configure(settings.log_format, settings.log_level)
        listener = _listen(settings)
        app = build(settings)
    except (WrongSetting, DatabaseUnavailable) as error:
        raise CommandFailed(str(error)) from error
    listener.listen()  # who comes before the application is ready waits
    name, bound = listener.getsockname()[:2]
    say(f"Serving at http://{f'[{name}]' if ':' in name else name}:{bound}  (Ctrl-C stops)")
    if settings.workers == 1:
        serve_one(settings, app, listener)
    else:
        app.state.house.store.close()  # each process opens its own; this was to see that it can
        supervise(settings, listener)


def upgrade(database: Database = None) -> None:
    """Bring the schema of a database up to date. Stop the servers of a SQLite file first.

    Example: thiessen db upgrade --database sqlite:///runs.db
    """
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable, open_store, schema

    try:
        store = open_store(read_settings(os.environ, database=database).database)
        try:
            revision, oldest = schema.upgrade(store)
        finally:
            store.close()
    except (WrongSetting, DatabaseUnavailable) as error:
        raise CommandFailed(str(error)) from error
    say(f"The database is at schema {revision}, for servers that know {oldest} or a later one.")


def check(database: Database = None) -> None:
    """Look for damage, and for what contradicts itself; a server may run meanwhile.

    Example: thiessen db check --database sqlite:///runs.db
    """
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable
    from app.storage.check import faults

    try:
        found = faults(read_settings(os.environ, database=database).database)
    except (WrongSetting, DatabaseUnavailable) as error:
        raise CommandFailed(str(error)) from error
    if found:
        raise CommandFailed("\n".join([*found, "Restore a backup, or report this with the lines above."]))
    say("The database holds what it must.")


def backup(
    file: Annotated[Path, typer.Argument(help="The copy, a new file.", show_default=False)],
    database: Database = None,
) -> None:
    """Copy a SQLite database as it is at one moment; a server may run meanwhile.

    Example: thiessen db backup monday.db --database sqlite:///runs.db
    """
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable
    from app.storage.check import back_up

    try:
        back_up(read_settings(os.environ, database=database).database, file)
    except (WrongSetting, DatabaseUnavailable) as error:
        raise CommandFailed(str(error)) from error
    say(f"The copy is {file}.")


def create(
    name: Annotated[str, typer.Argument(help="Whose it is; the audit tells deeds by this name.")],
    scope: Annotated[list[str], typer.Option(help="read, submit, work or admin; repeatable.")],
    project: Annotated[
        str | None, typer.Option(help="The only project it is for.", show_default="every one")
    ] = None,
    days: Annotated[
        float | None, typer.Option(help="How long it is valid.", show_default="until it is revoked")
    ] = None,
    database: Database = None,
) -> None:
    """Make a token and print it, this once. Stop the server of a SQLite file first, or ask it over HTTP.

    Example: thiessen token create node-7 --scope work --days 90
    """
    from datetime import timedelta

    from pydantic import ValidationError

    from app.domain.access import CONSOLE, Scope
    from app.lifecycle import access
    from thiessen.contract import TokenRequest

    try:
        asked = TokenRequest.model_validate({"name": name, "scopes": scope, "project": project, "days": days})
    except ValidationError as error:
        fault = error.errors()[0]
        raise CommandFailed(f"{fault['loc'][0]}: {fault['msg']}; got {fault['input']!r}.") from error
    with _opened(database) as store:
        token, secret = store.write(
            lambda tx: access.create(
                tx,
                CONSOLE,
                name=asked.name,
                scopes={Scope(each) for each in asked.scopes},
                project=asked.project,
                valid_for=None if asked.days is None else timedelta(days=asked.days),
            )
        )
    say(
        f"Token {token.name} may {', '.join(sorted(token.scopes))}. Keep it; it is not shown again:", err=True
    )
    say(secret)


def list_(database: Database = None) -> None:
    """List the tokens, revoked and expired ones too. Nobody can list their secrets.

    Example: thiessen token list --database postgresql://thiessen@db.example/thiessen
    """
    from functools import partial

    from app.lifecycle import access

    with _opened(database) as store:
        page = store.read(partial(access.every, after=0, limit=PAGE))
        while page:
            for token in page:
                say(_line(token))
            page = store.read(partial(access.every, after=page[-1].id, limit=PAGE))


def revoke(name: Annotated[str, typer.Argument(help="The token's name.")], database: Database = None) -> None:
    """Make a token worthless, on every server within two seconds.

    Example: thiessen token revoke node-7
    """
    from app.domain.access import CONSOLE
    from app.lifecycle import access

    with _opened(database) as store:
        store.write(lambda tx: access.revoke(tx, CONSOLE, name))
    say(f"Token {name} is revoked.")


def _line(token: "Token") -> str:
    parts = [
        f"{token.name}: {', '.join(sorted(token.scopes))}",
        f"in project {token.project}" if token.project else "",
        f"made {token.created_at:%Y-%m-%d %H:%M} by {token.created_by}",
        f"until {token.expires_at:%Y-%m-%d %H:%M}" if token.expires_at else "",
        f"revoked {token.revoked_at:%Y-%m-%d %H:%M}" if token.revoked_at else "",
    ]
    return ", ".join(part for part in parts if part)


@contextmanager
def _opened(database: str | None) -> Iterator["Store"]:
    """Yield the store of a database that has its schema; what is refused ends the command."""
    from app.domain.errors import Refusal
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable, open_store, schema

    try:
        store = open_store(read_settings(os.environ, database=database).database)
        try:
            schema.prepare(store)
            yield store
        finally:
            store.close()
    except (WrongSetting, DatabaseUnavailable, Refusal) as error:
        raise CommandFailed(str(error)) from error


def _listen(settings: "Settings") -> socket.socket:
    from app.settings import WrongSetting

    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise WrongSetting(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another with --port, or --port 0 for any free one."
        ) from error
    return listener
