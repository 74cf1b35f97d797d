"""Commands that speak of studies to a server."""

import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from thiessen.client import Client

Server = Annotated[str, typer.Option(envvar="THIESSEN_SERVER", help="Address of the server.")]
LOCAL = "http://127.0.0.1:8000"


def register(commands: typer.Typer) -> None:
    """Add the study commands."""
    study = typer.Typer(help="Create and read studies.", no_args_is_help=True)
    study.command()(create)
    study.command()(show)
    commands.add_typer(study, name="study")
    commands.command()(best)


def create(
    file: Annotated[Path, typer.Argument(help="The study as TOML or JSON.", dir_okay=False)],
    server: Server = LOCAL,
) -> None:
    """Create a study from a file; the same file again is the same study.

    Example: thiessen study create digits.toml
    """
    from pydantic import ValidationError

    from thiessen.contract import StudySpec
    from thiessen.contract.faults import faults

    document = _document(file)
    try:
        spec = StudySpec.model_validate(document)
    except ValidationError as error:
        raise CommandFailed(f"{file} is not a study: {faults(error)}.") from error
    with connected(server) as client:
        study = client.create_study(spec)
    typer.echo(f"Study {study.name} is {study.state}: {study.max_trials} trials of task {study.task}.")


def show(name: str, server: Server = LOCAL) -> None:
    """Show how far a study is.

    Example: thiessen study show digits-sgd
    """
    from thiessen.integrations import KNOWN
    from thiessen.search.settings import in_words

    with connected(server) as client:
        study = client.study(name)
    counts = study.counts
    endings = ("succeeded", "diverged", "pruned", "failed", "cancelled")
    ended = ", ".join(f"{getattr(counts, ending)} {ending}" for ending in endings)
    typer.echo(f"{study.name}: {study.state}{f' ({study.reason})' if study.reason else ''}")
    typer.echo(
        f"{counts.finished} of {study.max_trials + study.imported} trials finished ({ended}), "
        f"{counts.running} running, {counts.queued} queued"
    )
    if study.waits_for:
        typer.echo(study.waits_for)
    typer.echo(f"proposed by {in_words(study.strategy, KNOWN)}")
    if study.best:
        value = f" (value {study.best.value:g})" if study.direction == "maximize" else ""
        typer.echo(f"best loss {study.best.loss:g}{value} in trial {study.best.trial}: {study.best.config}")


def best(
    name: str,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many configs to list.")] = 10,
    server: Server = LOCAL,
) -> None:
    """List the best configs of a study.

    Example: thiessen best digits-sgd --top 5
    """
    from thiessen.cli.tables import ranking, terminal

    with connected(server) as client:
        found = client.best(name, top=top)
    if not found:
        typer.echo(f"No trial of {name} has succeeded yet.")
        return
    terminal().print(ranking(found))


@contextmanager
def connected(server: str) -> "Iterator[Client]":
    """Yield a client with the environment's token; what the server refuses ends the command."""
    from thiessen.client import Client
    from thiessen.errors import ThiessenError

    try:
        with Client(server, token=os.environ.get("THIESSEN_TOKEN") or None) as client:
            yield client
    except ThiessenError as error:
        raise CommandFailed(str(error)) from error


def _document(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
        read: dict[str, Any] = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise CommandFailed(f"cannot read {file}: {error.strerror}.") from error
    except ValueError as error:  # both parsers name the line
        raise CommandFailed(f"{file} cannot be parsed: {error}.") from error
    return read
