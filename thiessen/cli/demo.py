"""A real study from nothing: a server, a worker, some trained networks, a table of the best."""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.processes import (
    POLL_SECONDS,
    Process,
    address,
    forget_other_servers,
    made,
    running,
    stopped_by_signals,
)

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.console import Terminal
    from thiessen.contract import Study, StudySpec

STUDY: Final = "digits-sgd"
STALL_SECONDS: Final = 120.0


def register(commands: typer.Typer) -> None:
    """Add the demo command."""
    commands.command()(demo)


def demo(
    trials: Annotated[int, typer.Option(min=5, max=1000, help="How many networks to train.")] = 40,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes any free one.")] = 8000,
    folder: Annotated[
        Path | None, typer.Option(help="Where to keep the database.", show_default="a temporary one")
    ] = None,
) -> None:
    """Run a real study on this machine: tune SGD on handwritten digits, and list the best configs.

    On a terminal the server stays up until Ctrl-C, so that you can look at the dashboard.

    Example: thiessen demo --trials 40
    """
    from thiessen.cli.studies import connected
    from thiessen.cli.tables import ranking, terminal

    forget_other_servers()
    console = terminal()
    with stopped_by_signals(), _home(folder) as home:
        database = f"sqlite:///{home}/demo.db"
        with running(home, "serve", "--port", str(port), "--database", database) as server:
            url = _address(server)
            # One thread: on networks this small more of them only wait for each other.
            worker = ("worker", "--server", url, "--threads", "1")
            console.print(f"Dashboard: {url}/studies/{STUDY}")
            with connected(url) as client, running(home, *worker) as training:
                study = client.create_study(_spec(trials))
                _watch(client, study, training, console)
                best = client.best(STUDY)
            console.print(ranking(best, STUDY))
            console.print(f"Best: loss {best[0].loss!r} from seed {best[0].seed} with", soft_wrap=True)
            console.print(json.dumps(best[0].config), soft_wrap=True, highlight=False)
            if sys.stdin.isatty() and sys.stdout.isatty():
                console.print(f"The dashboard stays at {url}/studies/{STUDY} until you press Ctrl-C.")
                _until_interrupted(server)


def _spec(trials: int) -> "StudySpec":
    from thiessen.contract import StudySpec

    return StudySpec.model_validate(
        {
            "name": STUDY,
            "task": "classifier",
            "space": {
                "lr": {"type": "float", "low": 0.001, "high": 3.0, "log": True},
                "momentum": {"type": "float", "low": 0.0, "high": 0.99},
                "hidden": {"type": "int", "low": 8, "high": 128, "log": True},
                "batch_size": {"type": "categorical", "choices": [32, 64, 128]},
            },
            "strategy": "biased_random",
            "seed": 1,
            "max_trials": trials,
        }
    )


def _watch(client: "Client", study: "Study", worker: Process, console: "Terminal") -> None:
    """Show progress until the study is completed. Raises CommandFailed when it cannot get there."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[best]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("training", total=study.max_trials, best="")
        finished, moved_at = 0, time.monotonic()
        while study.state != "completed":
            if worker.ended is not None:
                raise CommandFailed("the worker stopped before the study was completed.")
            if time.monotonic() - moved_at > STALL_SECONDS:
                raise CommandFailed(f"no trial has finished for {STALL_SECONDS:.0f} seconds.")
            time.sleep(POLL_SECONDS)
            study = client.study(study.name)
            done = study.counts.finished
            if done > finished:
                finished, moved_at = done, time.monotonic()
            best = f"best loss {study.best.loss:.4f}" if study.best else ""
            progress.update(bar, completed=done, best=best)


@contextmanager
def _home(folder: Path | None) -> Iterator[Path]:
    """Yield a folder for the database and the logs; a temporary one is removed afterwards."""
    if folder is not None:
        yield made(folder)
        return
    with tempfile.TemporaryDirectory(prefix="thiessen-demo-") as temporary:
        yield Path(temporary)


def _address(server: Process) -> str:
    try:
        return address(server)
    except CommandFailed as failure:
        if "Cannot listen" not in server.said():
            raise
        raise CommandFailed(f"{failure} With make, choose a port by: make demo PORT=8010") from failure


def _until_interrupted(server: Process) -> None:
    try:
        server.wait()
    except KeyboardInterrupt:
        return
    raise CommandFailed("the server stopped by itself.")
