"""The command that computes the proposals of a study again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.studies import connected
from thiessen.terminal import say

if TYPE_CHECKING:
    from thiessen.search.record import Record


def register(commands: typer.Typer) -> None:
    """Add the command."""
    commands.command()(replay)


def replay(
    record: Annotated[
        str, typer.Argument(help="The export of a study, or its journal; with --server, its name there.")
    ],
    server: Annotated[str | None, typer.Option(help="Address of a server to ask for the export.")] = None,
) -> None:
    """Compute every proposal of a study again, here, and compare it with the stored one.

    Example: thiessen replay digits.json
    """
    from rich.progress import track

    from thiessen.console import Terminal
    from thiessen.search import HistoryError, NotReplayable, Tally

    read = _read(record, _content(record, server), server)
    console = Terminal(stderr=True)
    try:
        watched = track(
            read.replay(),
            "Replaying",
            total=read.proposals,
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        tally = Tally.of(watched, read.proposals)
    except NotReplayable as error:
        raise CommandFailed(f"{record} cannot be replayed: {error}") from error
    except HistoryError as error:
        raise CommandFailed(f"{record} is not the whole record of a study: {error}") from error
    if tally.first is not None:
        raise CommandFailed(str(tally))
    say(str(tally))


def _content(record: str, server: str | None) -> bytes:
    if server is not None:
        with connected(server) as client:
            return client.export(record)
    try:
        return Path(record).read_bytes()
    except OSError as error:
        raise CommandFailed(
            f"cannot read {record}: {error.strerror}. With --server it is the name of a study."
        ) from error


def _read(record: str, content: bytes, server: str | None) -> "Record":
    from thiessen.integrations import KNOWN
    from thiessen.journal import parsed
    from thiessen.search import HistoryError
    from thiessen.search.record import Record

    try:
        is_journal = Path(record).suffix == ".jsonl" and server is None
        return Record.from_json(parsed(content.decode()) if is_journal else json.loads(content), KNOWN)
    except HistoryError as error:
        raise CommandFailed(f"{record} is not the record of a study: {error}") from error
    except (ValueError, RecursionError) as error:  # the parser's; it names the line
        raise CommandFailed(f"{record} is not JSON: {error}.") from error
