"""The worker's part of the command line. Heavy packages are imported when the command runs."""

import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from thiessen.client import Client
    from worker.spool import Spool
    from worker.tasks import Task

Server = Annotated[str, typer.Option(envvar="THIESSEN_SERVER", help="Address of the server.")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="THIESSEN_TOKEN",
        help="Token with the scope work. Better in the environment: other users see options.",
    ),
]
Devices = Annotated[str, typer.Option(help="auto, cpu, mps, or a list such as cuda:0,cuda:1.")]
Studies = Annotated[list[str] | None, typer.Option(help="Work for this study only; repeatable.")]
Name = Annotated[str | None, typer.Option(help="Name of this worker.", show_default="the host's name")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        envvar="THIESSEN_THREADS",
        help="Threads of each device.",
        show_default="its share of cores",
    ),
]
IdleExit = Annotated[
    float | None, typer.Option(min=0, help="Stop after so many seconds with nothing to train.")
]
Labels = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="What studies may require; repeatable.")
]
SpoolDir = Annotated[
    Path | None,
    typer.Option(
        help="Where results wait for the server.",
        show_default="~/.local/state/thiessen/results",
        file_okay=False,
    ),
]
OfflineFor = Annotated[
    float,
    typer.Option(
        min=0, envvar="THIESSEN_OFFLINE_FOR", help="Bear a server that is away for so many seconds."
    ),
]


def register(commands: typer.Typer) -> None:
    """Add the worker's command."""
    commands.command()(worker)


def worker(
    server: Server = "http://127.0.0.1:8000",
    token: Token = None,
    devices: Devices = "auto",
    study: Studies = None,
    name: Name = None,
    threads: Threads = None,
    idle_exit: IdleExit = None,
    label: Labels = None,
    spool_dir: SpoolDir = None,
    offline_for: OfflineFor = 3600.0,
) -> None:
    """Train trials for a server, one at a time on each device, until stopped.

    SIGTERM or Ctrl-C gives the trials in hand back and stops; a second one stops at once.

    Example: thiessen worker --server http://10.0.0.5:8000 --devices cuda:0,cuda:1
    """
    # Idle threads of OpenMP sleep instead of spinning: on a busy machine training is many times faster.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    from thiessen.client import Client
    from thiessen.errors import ThiessenError
    from worker import daemon
    from worker import devices as here
    from worker.patience import Patience
    from worker.slot import Slot

    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    os.environ.pop("THIESSEN_TOKEN", None)  # it is the daemon's: what it trains has no use for it
    chosen = _devices(devices)
    threads = threads or here.threads(len(chosen))
    stop = threading.Event()
    stop_on_signals(stop)
    _check_names([*(study or ()), *([name] if name else ())])
    tasks, labels, spool = _tasks(), _labels(label or ()), _spool(spool_dir)
    try:
        with Client(
            server, token=token or None, timeout_seconds=daemon.ANSWER_SECONDS, retry_pauses=()
        ) as client:
            _check_ready(client)
            typer.echo(f"Working for {server} on {', '.join(chosen)} (Ctrl-C stops)", err=True)
            work = daemon.Worker(
                name=name or _host(),
                client=client,
                slots=[Slot(device, threads) for device in chosen],
                tasks=tasks,
                labels=labels,
                studies=study,
                spool=spool,
                patience=Patience(stop=stop, offline_seconds=offline_for),
                idle_exit_seconds=idle_exit,
                threads=threads,
            )
            daemon.run(work)
    except ThiessenError as error:
        raise CommandFailed(str(error)) from error


def _devices(wish: str) -> list[str]:
    from worker.devices import NoSuchDevice, chosen

    try:
        return chosen(wish)
    except NoSuchDevice as error:
        raise CommandFailed(str(error)) from error


def stop_on_signals(stop: threading.Event) -> None:
    """Let the first signal set `stop`, and the second one end the process."""

    def finish(number: int, frame: object) -> None:
        del number, frame
        if stop.is_set():
            os._exit(1)
        stop.set()

    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGINT, finish)


def _check_names(given: Sequence[str]) -> None:
    from thiessen.contract.words import NAME

    for name in given:
        if not re.fullmatch(NAME, name):
            raise CommandFailed(f"{name!r} is not a name: use letters, digits, dot, underscore and hyphen.")


def _tasks() -> "list[Task]":
    from worker.tasks import installed

    tasks = installed()
    if not tasks:
        raise CommandFailed("no task is installed here; install a package that offers one.")
    return [tasks[name] for name in sorted(tasks)]


def _labels(given: Sequence[str]) -> dict[str, str]:
    labels = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise CommandFailed(f"{text!r} is not a label: write KEY=VALUE, such as pool=a100.")
        labels[key] = value
    return labels


def _spool(folder: Path | None) -> "Spool":
    from worker.spool import Spool, usual_folder

    folder = folder or usual_folder()
    try:
        return Spool(folder)
    except OSError as error:
        raise CommandFailed(
            f"results cannot be kept in {folder}: {error.strerror or error}. Choose another --spool-dir."
        ) from error


def _check_ready(client: "Client") -> None:
    if not client.is_ready():
        raise CommandFailed(
            f"no server answers at {client.url}. Start one with `thiessen serve`, or give its address "
            "without a path."
        )


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname()).strip("-._")[:100] or "worker"
