"""Builds the command line and runs it."""

import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

import thiessen
from thiessen.cli import demo, replay, run, studies, tasks, trials
from thiessen.cli.failure import CommandFailed
from thiessen.version import __version__

ROOMS: Final = {"app": ("serve", "db", "token"), "worker": ("worker",)}  # and the commands that each adds


def main() -> None:
    """Run the command that was typed; a failure is a sentence on standard error and exit code 1."""
    try:
        build()()
    except CommandFailed as failure:
        _fail(str(failure))
    except ModuleNotFoundError as missing:
        if missing.name in ROOMS or missing.name is None:
            raise
        _fail(
            f"the package {missing.name!r} is not installed. The server needs: pip install "
            "'thiessen[server]'; a worker needs: pip install 'thiessen[worker]'."
        )


def build() -> typer.Typer:
    """Return the command line with the commands of every room."""
    commands = typer.Typer(
        name="thiessen",
        help="Hyperparameter search by biased random search, with second-order optimizers.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    commands.callback(invoke_without_command=True)(_options)
    studies.register(commands)
    trials.register(commands)
    tasks.register(commands)
    demo.register(commands)
    replay.register(commands)
    run.register(commands)
    found = {entry.name: entry for entry in entry_points(group="thiessen.commands")}
    for room, names in ROOMS.items():
        if stranger := _stranger(room):
            for name in names:
                anything = {"ignore_unknown_options": True, "allow_extra_args": True}
                refuse = commands.command(
                    name, help=f"Not available: {stranger}", context_settings=anything, add_help_option=False
                )
                refuse(_refusal(name, stranger))
        elif room in found:
            found[room].load()(commands)
    return commands


def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def _stranger(room: str) -> str | None:
    """Say whose package Python would import in place of our room; it is never imported to find out."""
    ours = Path(thiessen.__path__[0]).parent / room
    spec = find_spec(room)
    where = Path(spec.origin).parent if spec and spec.origin else None
    if spec is None or where == ours:
        return None
    return f"the package {room!r} found at {where or 'a folder of PYTHONPATH'} is not Thiessen's. Remove it."


def _refusal(command: str, stranger: str) -> Callable[[], None]:
    def refuse() -> None:
        raise CommandFailed(f"thiessen {command} cannot start: {stranger}")

    return refuse


def _fail(sentence: str) -> None:
    typer.echo(f"Error: {sentence}", err=True)
    sys.exit(1)
