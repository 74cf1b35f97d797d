"""Builds the command line and runs it."""

import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Annotated

import typer

from thiessen.cli import compare, demo, doctor, optuna, replay, run, studies, tasks, trials
from thiessen.cli.failure import CommandFailed
from thiessen.cli.rooms import ROOMS, stranger
from thiessen.terminal import say
from thiessen.version import __version__


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
        context_settings={"help_option_names": ["--help", "-h"]},
        pretty_exceptions_enable=False,
    )
    commands.callback(invoke_without_command=True)(_options)
    studies.register(commands)
    compare.register(commands)
    trials.register(commands)
    tasks.register(commands)
    demo.register(commands)
    doctor.register(commands)
    replay.register(commands)
    run.register(commands)
    optuna.register(commands)
    found = entry_points(group="thiessen.commands")
    for room, names in ROOMS.items():
        if whose := stranger(room):
            for name in names:
                anything = {"ignore_unknown_options": True, "allow_extra_args": True}
                refuse = commands.command(
                    name, help=f"Not available: {whose}", context_settings=anything, add_help_option=False
                )
                refuse(_refusal(name, whose))
            continue
        for entry in found:
            if entry.module.partition(".")[0] == room:
                entry.load()(commands)
    return commands


def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        say(__version__)
        raise typer.Exit


def _refusal(command: str, whose: str) -> Callable[[], None]:
    def refuse() -> None:
        raise CommandFailed(f"thiessen {command} cannot start: {whose}")

    return refuse


def _fail(sentence: str) -> None:
    say(f"Error: {sentence}", err=True)
    sys.exit(1)
