"""The command that looks at all that is needed, and says what to do."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Annotated

import typer

from thiessen.cli.output import Form, Output, printed
from thiessen.cli.rooms import ROOMS, stranger

if TYPE_CHECKING:
    from thiessen.cli.checks import Asked, Finding


def register(commands: typer.Typer) -> None:
    """Add the command."""
    commands.command()(doctor)


def doctor(
    server: Annotated[
        str | None, typer.Option(envvar="THIESSEN_SERVER", help="Address of a server to look at.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="THIESSEN_DATABASE",
            help="sqlite:///FILE or postgresql://USER@HOST/NAME.",
            show_default="sqlite:///thiessen.db",
        ),
    ] = None,
    output: Output = Form.TABLE,
) -> None:
    """Check what is installed, and what of a server, a database and this machine is asked for.

    Each line is ok, a warning or a fault, and says what to do. With a fault the exit code is 1. Nothing is
    changed.

    Example: thiessen doctor --server http://127.0.0.1:8000
    """
    from thiessen.cli.checks import Asked
    from thiessen.cli.own_checks import own

    asked = Asked(server=server, token=os.environ.get("THIESSEN_TOKEN") or None, database=database)
    found = [*own(asked)]
    for entry in sorted(entry_points(group="thiessen.checks"), key=lambda entry: entry.name):
        found += _of_room(entry, asked)
    printed([asdict(each) for each in found], output, lambda: _lines(found))
    if any(each.state == "fault" for each in found):
        raise typer.Exit(1)


def _of_room(entry: EntryPoint, asked: "Asked") -> Iterator["Finding"]:
    """Yield what a room finds; that it cannot look is a finding too."""
    from thiessen.cli.checks import Finding

    if entry.name in ROOMS and (whose := stranger(entry.name)):
        yield Finding(entry.name, "fault", whose)
        return
    try:
        yield from entry.load()(asked)
    except ModuleNotFoundError as missing:
        yield Finding(entry.name, "ok", f"not installed: it needs the package {missing.name}.")
    except Exception as error:  # noqa: BLE001 - whatever is wrong there, the other checks are told
        told = f"its checks ended with {type(error).__name__}: {error}"
        yield Finding(entry.name, "fault", told, "Install it again, or report this line.")


def _lines(found: Sequence["Finding"]) -> str:
    width = max(len(each.check) for each in found)
    return "\n".join(
        f"{each.state:8}{each.check:{width}}  {each.told} {each.cure}".rstrip() for each in found
    )
