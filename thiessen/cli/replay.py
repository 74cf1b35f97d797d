"""The command that computes the proposals of a study again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from thiessen.search.record import Record


def register(commands: typer.Typer) -> None:
    """Add the command."""
    commands.command()(replay)


def replay(
    file: Annotated[Path, typer.Argument(help="The record of a study, as JSON.", dir_okay=False)],
) -> None:
    """Compute every proposal of a study again, and compare it with the stored one.

    Example: thiessen replay digits.json
    """
    from rich.console import Console
    from rich.progress import track

    from thiessen.search import HistoryError, NotReplayable, Tally

    record = _record(file)
    console = Console(stderr=True)
    try:
        watched = track(
            record.replay(),
            "Replaying",
            total=record.proposals,
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        tally = Tally.of(watched, record.proposals)
    except NotReplayable as error:
        raise CommandFailed(f"{file} cannot be replayed: {error}") from error
    except HistoryError as error:
        raise CommandFailed(f"{file} is not the whole record of a study: {error}") from error
    if tally.first is not None:
        raise CommandFailed(str(tally))
    typer.echo(str(tally))


def _record(file: Path) -> "Record":
    from thiessen.integrations import KNOWN
    from thiessen.search import HistoryError
    from thiessen.search.record import Record

    try:
        return Record.from_json(json.loads(file.read_text(encoding="utf-8")), KNOWN)
    except OSError as error:
        raise CommandFailed(f"cannot read {file}: {error.strerror}.") from error
    except HistoryError as error:
        raise CommandFailed(f"{file} is not the record of a study: {error}") from error
    except (ValueError, RecursionError) as error:  # the parser's; it names the line
        raise CommandFailed(f"{file} is not JSON: {error}.") from error
