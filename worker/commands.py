"""The worker's part of the command line. Heavy packages are imported when the command runs."""

import re
import signal
import socket
import sys
from typing import Annotated

import typer

from thiessen.cli.failure import CommandFailed


def register(commands: typer.Typer) -> None:
    """Add the worker's command."""
    commands.command()(worker)


def worker(
    server: Annotated[
        str, typer.Option(envvar="THIESSEN_SERVER", help="Address of the server.")
    ] = "http://127.0.0.1:8000",
    token: Annotated[
        str | None,
        typer.Option(
            envvar="THIESSEN_TOKEN",
            help="Token with the scope work. Better in the environment: other users see options.",
        ),
    ] = None,
    devices: Annotated[str, typer.Option(help="auto, cpu, mps, or a list such as cuda:0,cuda:1.")] = "auto",
    study: Annotated[list[str] | None, typer.Option(help="Work for this study only; repeatable.")] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of this worker.", show_default="the host's name")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="THIESSEN_THREADS",
            help="Threads of each device.",
            show_default="its share of cores",
        ),
    ] = None,
    idle_exit: Annotated[
        float | None, typer.Option(min=0, help="Stop after so many seconds with nothing to train.")
    ] = None,
) -> None:
    """Train trials for a server, one at a time on each device, until stopped.

    SIGTERM or Ctrl-C gives the trials in hand back and stops; a second one stops at once.

    Example: thiessen worker --server http://10.0.0.5:8000 --devices cuda:0,cuda:1
    """
    import logging
    import os
    import threading

    # Idle threads of OpenMP sleep instead of spinning: on a busy machine training is many times faster.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    from thiessen.client import Client
    from thiessen.contract.words import NAME
    from thiessen.errors import ThiessenError
    from worker import daemon
    from worker import devices as here
    from worker.slot import Slot
    from worker.tasks import installed

    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    os.environ.pop("THIESSEN_TOKEN", None)  # it is the daemon's: what it trains has no use for it
    try:
        chosen = here.chosen(devices)
    except here.NoSuchDevice as error:
        raise CommandFailed(str(error)) from error
    threads = threads or here.threads(len(chosen))
    stop = threading.Event()

    def finish(number: int, frame: object) -> None:
        del number, frame
        if stop.is_set():
            os._exit(1)
        stop.set()

    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGINT, finish)
    for given in (*(study or ()), *([name] if name else ())):
        if not re.fullmatch(NAME, given):
            raise CommandFailed(f"{given!r} is not a name: use letters, digits, dot, underscore and hyphen.")
    host = re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname()).strip("-._")[:100]
    try:
        with Client(
            server, token=token or None, timeout_seconds=daemon.ANSWER_SECONDS, retry_pauses=()
        ) as client:
            if not client.is_ready():
                raise CommandFailed(
                    f"no server answers at {server}. Start one with `thiessen serve`, or give its address "
                    "without a path."
                )
            typer.echo(f"Working for {server} on {', '.join(chosen)} (Ctrl-C stops)", err=True)
            work = daemon.Worker(
                name=name or host or "worker",
                client=client,
                tasks=sorted(installed()),
                studies=study,
                idle_exit_seconds=idle_exit,
                threads=threads,
            )
            daemon.run(work, [Slot(device, threads) for device in chosen], stop)
    except ThiessenError as error:
        raise CommandFailed(str(error)) from error
