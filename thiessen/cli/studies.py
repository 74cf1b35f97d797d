"""Commands that speak of studies to a server."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.output import Form, Output, printed
from thiessen.terminal import hand_over, harmless, say

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.contract import Study

Server = Annotated[str, typer.Option(envvar="THIESSEN_SERVER", help="Address of the server.")]
LOCAL = "http://127.0.0.1:8000"


def register(commands: typer.Typer) -> None:
    """Add the study commands."""
    study = typer.Typer(help="Create, read and change studies.", no_args_is_help=True)
    study.command()(create)
    study.command("list")(listed)
    commands_of_one: list[Callable[..., None]] = [show, watch, pause, resume, stop, extend, export, figure]
    for command in commands_of_one:
        study.command()(command)
    study.command("import")(imported)
    study.command()(delete)
    study.command()(schema)
    commands.add_typer(study, name="study")
    commands.command()(best)


def create(
    file: Annotated[Path, typer.Argument(help="The study as TOML, YAML or JSON.", dir_okay=False)],
    server: Server = LOCAL,
) -> None:
    """Create a study from a file; the same file again is the same study. A sweep file of W&B is one too.

    Example: thiessen study create digits.toml
    """
    from thiessen.cli.study_file import read
    from thiessen.cli.sweep import RUN
    from thiessen.contract.words import TASK

    spec = read(file)
    with connected(server) as client:
        study = client.create_study(spec)
        address = client.url
    say(f"Study {study.name} is {study.state}: {study.max_trials} trials of task {study.task}.")
    if study.waits_for and study.task != TASK:
        say(study.waits_for)
    if RUN in study.attributes:
        say(f"Try them: thiessen run --server {address} --study {study.name} {study.attributes[RUN]}")


def listed(
    state: Annotated[
        str | None, typer.Option(help="Only those that are active, paused, stopped or completed.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="Only those with this tag.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the newest first.")] = 50,
    output: Output = Form.TABLE,
    server: Server = LOCAL,
) -> None:
    """List studies, the newest first.

    Example: thiessen study list --state active
    """
    from thiessen.cli.tables import studies as table

    with connected(server) as client:
        found = list(islice(client.each_study(state=state, tag=tag), limit))
    if not found and output is Form.TABLE:
        say("There is no such study. Create one: thiessen study create digits.toml")
        return
    printed([each.model_dump(mode="json") for each in found], output, lambda: table(found))


def show(name: str, output: Output = Form.TABLE, server: Server = LOCAL) -> None:
    """Show how far a study is.

    Example: thiessen study show digits-sgd
    """
    with connected(server) as client:
        study = client.study(name)
    printed(study.model_dump(mode="json"), output, lambda: _in_words(study))


def watch(
    name: str,
    every: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds between two looks.")] = 1.0,
    server: Server = LOCAL,
) -> None:
    """Show how far a study is until it has ended, with the best so far; Ctrl-C only stops watching.

    Example: thiessen study watch digits-sgd
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from thiessen.cli.tables import terminal

    told = TextColumn("{task.fields[told]}", markup=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        told,
    )
    with connected(server) as client, Progress(*columns, console=terminal()) as progress:
        bar = progress.add_task(name, total=None, told="")
        while True:
            study = client.study(name)
            best_loss = f"best loss {study.best.loss:.6g}" if study.best else ""
            progress.update(
                bar,
                total=study.expected,
                completed=study.counts.finished,
                told=harmless(study.waits_for or best_loss),
            )
            if study.state in {"completed", "stopped"} and not study.counts.running:
                break
            time.sleep(every)
    say(_in_words(study))


def pause(name: str, server: Server = LOCAL) -> None:
    """Let the running trials of a study finish, and begin no other.

    Example: thiessen study pause digits-sgd
    """
    _change(name, {"state": "paused"}, server)


def resume(name: str, server: Server = LOCAL) -> None:
    """Go on with a study that was paused.

    Example: thiessen study resume digits-sgd
    """
    _change(name, {"state": "active"}, server)


def stop(name: str, server: Server = LOCAL) -> None:
    """End a study now; its running trials are given back.

    Example: thiessen study stop digits-sgd
    """
    _change(name, {"state": "stopped"}, server)


def extend(
    name: str,
    trials: Annotated[int | None, typer.Option(min=1, help="How many trials in all.")] = None,
    gpu_hours: Annotated[float | None, typer.Option(min=0, help="GPU hours in all.")] = None,
    updates: Annotated[int | None, typer.Option(min=1, help="Updates of all trials together.")] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Seconds that all trials together have trained.")
    ] = None,
    deadline: Annotated[str | None, typer.Option(help="A time, as 2027-01-31T18:00:00Z.")] = None,
    target: Annotated[float | None, typer.Option(help="A value that is good enough.")] = None,
    server: Server = LOCAL,
) -> None:
    """Change how far a study goes.

    Example: thiessen study extend digits-sgd --trials 200
    """
    budget = {
        "max_trials": trials,
        "max_gpu_hours": gpu_hours,
        "max_updates": updates,
        "max_seconds": seconds,
        "deadline": deadline,
        "target": target,
    }
    changes = {term: each for term, each in budget.items() if each is not None}
    if not changes:
        raise CommandFailed(
            "say how far: --trials, --gpu-hours, --updates, --seconds, --deadline or --target."
        )
    _change(name, changes, server)


def export(
    name: str,
    file: Annotated[
        Path | None, typer.Argument(help="Where to write it.", show_default="standard output", dir_okay=False)
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="json has everything; csv and parquet a line for each trial.")
    ] = "json",
    server: Server = LOCAL,
) -> None:
    """Write all of a study into a file.

    Example: thiessen study export digits-sgd digits.json
    """
    with connected(server) as client:
        content = client.export(name, form)
    if file is None:
        hand_over(content)
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise CommandFailed(f"cannot write {file}: {error.strerror}.") from error
    say(f"{file} has study {name}: {len(content):,} bytes.")


def imported(
    file: Annotated[Path, typer.Argument(help="A journal, or an export as JSON.", dir_okay=False)],
    name: Annotated[
        str | None, typer.Option(help="Of the new study.", show_default="that of the file")
    ] = None,
    task: Annotated[str | None, typer.Option(help="What trains its further trials.")] = None,
    server: Server = LOCAL,
) -> None:
    """Take a study out of a journal or an export, with what its trials came to.

    Example: thiessen study import train.jsonl
    """
    from thiessen.cli.moving import moved

    with connected(server) as client:
        study, trials = moved(client, file, name or file.stem, task)
    say(f"Study {study.name} has {trials} trials of {file} and is {study.state}.")


def figure(
    name: str,
    kind: Annotated[str, typer.Argument(metavar="FIGURE", help="Say history, landscape, slice or another.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where it goes: a page (.html), or plotly's JSON (.json).")
    ],
    x: Annotated[str | None, typer.Option(help="A dimension, of figures that have two.")] = None,
    y: Annotated[str | None, typer.Option(help="The other one.")] = None,
    others: Annotated[
        str, typer.Option(help="The other dimensions of a landscape: best or ignored.")
    ] = "best",
    after: Annotated[
        int | None, typer.Option(help="As the study was when so many trials had finished.", min=0)
    ] = None,
    colour: Annotated[str, typer.Option(help="What colours go by: loss or rank.")] = "loss",
    metric: Annotated[str | None, typer.Option(help="What curves are of.")] = None,
    theme: Annotated[str, typer.Option(help="For a light or for a dark page.")] = "light",
    server: Server = LOCAL,
) -> None:
    """Write a figure of a study to a file.

    Example: thiessen study figure digits-sgd landscape --output landscape.html
    """
    from thiessen.figures import FigureError, Wanted, check
    from thiessen.showing import page

    if output.suffix not in {".html", ".json"}:
        raise CommandFailed(
            f"{output} is neither a page (.html) nor plotly's JSON (.json). Name one of these."
        )
    wanted = Wanted(
        x=x,
        y=y,
        others=others,  # type: ignore[arg-type] # is checked
        after=after,
        colour=colour,  # type: ignore[arg-type]
        metric=metric,
        theme=theme,  # type: ignore[arg-type]
    )
    try:
        check(kind, wanted)
    except FigureError as error:
        raise CommandFailed(str(error)) from error
    with connected(server) as client:
        drawn = client.figure(name, kind, wanted)
    try:
        page(drawn, output) if output.suffix == ".html" else output.write_text(json.dumps(drawn))
    except OSError as error:
        raise CommandFailed(f"{output} cannot be written: {error.strerror}.") from error
    say(f"The {kind} of {name} is in {output}.")


def delete(
    name: str,
    purge: Annotated[bool, typer.Option("--purge", help="Remove its history too, for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    server: Server = LOCAL,
) -> None:
    """Stop a study and hide it; with --purge remove it with all its trials.

    Example: thiessen study delete digits-sgd --yes
    """
    if not yes:
        typer.confirm(f"Delete study {name}{' with all its trials' if purge else ''}?", abort=True)
    with connected(server) as client:
        client.delete_study(name, purge=purge)
    say(f"Study {name} is {'gone' if purge else 'stopped and hidden'}.")


def schema() -> None:
    """Print the JSON Schema of a study file, for editors that complete and check it.

    Example: thiessen study schema > study.schema.json
    """
    from thiessen.contract import StudySpec

    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **StudySpec.model_json_schema()}
    say(json.dumps(document, indent=2))


def best(
    name: Annotated[
        str | None, typer.Argument(help="The study.", show_default="the best of each study")
    ] = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many configs to list.")] = 10,
    output: Output = Form.TABLE,
    server: Server = LOCAL,
) -> None:
    """List the best configs of a study, or the best one of each study.

    Example: thiessen best digits-sgd --top 5
    """
    from thiessen.cli.tables import ranking

    with connected(server) as client:
        found = client.best_of_all(top=top) if name is None else client.best(name, top=top)
    if not found and output is Form.TABLE:
        say(f"No trial{f' of {name}' if name else ''} has succeeded yet.")
        return
    printed([each.model_dump(mode="json") for each in found], output, lambda: ranking(found, name))


def _change(name: str, changes: dict[str, Any], server: str) -> None:
    from pydantic import ValidationError

    from thiessen.contract import StudyChanges
    from thiessen.contract.faults import faults

    try:
        wanted = StudyChanges.model_validate(changes)
    except ValidationError as error:
        raise CommandFailed(f"{name} cannot be changed so: {faults(error)}.") from error
    with connected(server) as client:
        study = client.change_study(name, wanted)
    say(_in_words(study))


def _in_words(study: "Study") -> str:
    from thiessen.integrations import KNOWN
    from thiessen.search.settings import in_words

    counts = study.counts
    endings = ("succeeded", "diverged", "pruned", "failed", "cancelled")
    ended = ", ".join(f"{getattr(counts, ending)} {ending}" for ending in endings)
    under_way = f"{counts.running} running, {counts.queued} queued"
    told = [
        f"{study.name}: {study.state}{f' ({study.reason})' if study.reason else ''}",
        f"{counts.finished} of {study.expected} trials finished ({ended}), {under_way}",
        *([study.waits_for] if study.waits_for else []),
        *([] if study.is_mirror else [f"proposed by {in_words(study.strategy, KNOWN)}"]),
    ]
    if study.best:
        value = f" (value {study.best.value:g})" if study.direction == "maximize" else ""
        told.append(f"best loss {study.best.loss:g}{value} in trial {study.best.trial}: {study.best.config}")
    return "\n".join(told)


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
