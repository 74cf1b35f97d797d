"""The server's part of the command line. Heavy packages are imported when a command runs."""

import os
import socket
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from app.settings import Settings

STOP_SECONDS: Final = 10  # for the answers under way; a reader that reads no more gets no longer

Database = Annotated[
    str | None,
    typer.Option(help="sqlite:///FILE or postgresql://USER@HOST/NAME.", show_default="sqlite:///thiessen.db"),
]


def register(commands: typer.Typer) -> None:
    """Add the server's commands."""
    commands.command()(serve)
    database = typer.Typer(help="Look after the database.", no_args_is_help=True)
    database.command()(upgrade)
    commands.add_typer(database, name="db")


def serve(
    database: Database = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes any free one.", show_default="8000")] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Serve beyond this machine without tokens.")
    ] = None,
) -> None:
    """Serve studies over HTTP, with the dashboard at /.

    Every option can also be set in the environment: THIESSEN_DATABASE, THIESSEN_HOST, THIESSEN_PORT,
    THIESSEN_INSECURE.

    Example: thiessen serve --database sqlite:///runs.db --port 8000
    """
    import uvicorn

    from app.main import build
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable

    try:
        settings = read_settings(os.environ, database=database, host=host, port=port, insecure=insecure)
        listener = _listen(settings)
        app = build(settings)
    except (WrongSetting, DatabaseUnavailable) as error:
        raise CommandFailed(str(error)) from error
    name, bound = listener.getsockname()[:2]
    typer.echo(f"Serving at http://{f'[{name}]' if ':' in name else name}:{bound}  (Ctrl-C stops)")
    # No access log: lease ids are part of the paths.
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", timeout_graceful_shutdown=STOP_SECONDS
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.state.house.followers.close()  # it waits for every answer, and these would never end
            await super().shutdown(sockets)

    Server(config).run(sockets=[listener])


def upgrade(database: Database = None) -> None:
    """Bring the schema of a database up to date. Stop the servers of a SQLite file first.

    Example: thiessen db upgrade --database sqlite:///runs.db
    """
    from app.settings import WrongSetting, read_settings
    from app.storage import DatabaseUnavailable, open_store, schema

    try:
        store = open_store(read_settings(os.environ, database=database).database)
        try:
            revision = schema.upgrade(store)
        finally:
            store.close()
    except (WrongSetting, DatabaseUnavailable) as error:
        raise CommandFailed(str(error)) from error
    typer.echo(f"The database is at schema {revision}.")


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
