"""A real study from nothing: a server, a worker, some trained networks, a table of the best."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from rich.console import Console

    from thiessen.client import Client
    from thiessen.contract import Study, StudySpec

STUDY: Final = "digits-sgd"
START_SECONDS: Final = 60.0  # a cold disk can make the first import of torch slow
STALL_SECONDS: Final = 120.0
STOP_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.2


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

    for name in ("THIESSEN_TOKEN", "THIESSEN_REQUIRE_TOKENS"):
        os.environ.pop(name, None)  # meant for another server: this one is its own
    console = terminal()
    with _stopped_by_signals(), _home(folder) as home:
        database = f"sqlite:///{home}/demo.db"
        with _process(home, "serve", "--port", str(port), "--database", database) as server:
            address = _address(server, home)
            # One thread: on networks this small more of them only wait for each other.
            worker = ("worker", "--server", address, "--threads", "1")
            console.print(f"Dashboard: {address}/studies/{STUDY}")
            with connected(address) as client, _process(home, *worker) as training:
                study = client.create_study(_spec(trials))
                _watch(client, study, training, console)
                best = client.best(STUDY)
            console.print(ranking(best, STUDY))
            console.print(f"Best: loss {best[0].loss!r} from seed {best[0].seed} with", soft_wrap=True)
            console.print(json.dumps(best[0].config), soft_wrap=True, highlight=False)
            if sys.stdin.isatty() and sys.stdout.isatty():
                console.print(f"The dashboard stays at {address}/studies/{STUDY} until you press Ctrl-C.")
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


def _watch(client: "Client", study: "Study", worker: "subprocess.Popen[bytes]", console: "Console") -> None:
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
            if worker.poll() is not None:
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandFailed(f"cannot use {folder}: {error.strerror}. Choose another --folder.") from error
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="thiessen-demo-") as temporary:
        yield Path(temporary)


@contextmanager
def _process(home: Path, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run one of our commands until the block ends; if the block fails, show the end of its log."""
    log = home / f"{command[0]}.log"
    # -P: a folder named `app` where the user happens to stand must not be imported.
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "thiessen.cli", *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches this process alone, which then stops them in order
        )
    try:
        yield process
    except CommandFailed as failure:
        tail = log.read_text(errors="replace").strip().splitlines()[-5:]
        if not tail:
            raise
        raise CommandFailed(f"{failure}\n  {command[0]}: " + "\n  ".join(tail)) from failure
    finally:
        _stop(process)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _address(server: "subprocess.Popen[bytes]", home: Path) -> str:
    """Return where the server says it listens, once it is ready. Raises CommandFailed."""
    from thiessen.client import Client

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise CommandFailed(
                "the server could not start. With make, choose a port by: make demo PORT=8010"
            )
        found = re.search(r"Serving at (http://\S+)", (home / "serve.log").read_text(errors="replace"))
        if found:
            with Client(found[1]) as client:
                if client.is_ready():
                    return found[1]
        time.sleep(POLL_SECONDS)
    raise CommandFailed(f"the server was not ready after {START_SECONDS:.0f} seconds.")


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let a termination end the demo as Ctrl-C does: everything it started is stopped."""

    def interrupt(number: int, frame: object) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _until_interrupted(server: "subprocess.Popen[bytes]") -> None:
    try:
        server.wait()
    except KeyboardInterrupt:
        return
    raise CommandFailed("the server stopped by itself.")
