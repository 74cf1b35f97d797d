"""The worker's part of the command line. Heavy packages are imported when the command runs."""

import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.console import Terminal
    from worker.functions import Offer
    from worker.slot import Slot
    from worker.spool import Spool

T = TypeVar("T")

SIGNALLED: Final = 128  # the exit code of a program that a signal ended is this and the signal's number
READERS_OF_THREADS: Final = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Server = Annotated[str, typer.Option(envvar="THIESSEN_SERVER", help="Address of the server.")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="THIESSEN_TOKEN",
        help="Token with the scope work. Better in the environment: other users see options.",
    ),
]
TokenFile = Annotated[
    Path | None, typer.Option(envvar="THIESSEN_TOKEN_FILE", help="File with the token.", dir_okay=False)
]
Devices = Annotated[
    str, typer.Option(help="auto, cpu, mps, or a list such as cuda:0,1; cuda:0+1 is one slot on both.")
]
SlotsPerDevice = Annotated[int, typer.Option(min=1, max=64, help="Trials at a time on each device.")]
Studies = Annotated[list[str] | None, typer.Option(help="Work for this study only; repeatable.")]
Tasks = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Offer this task only, or module:function; repeatable."),
]
Name = Annotated[str | None, typer.Option(help="Name of this worker.", show_default="the host's name")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        envvar="THIESSEN_THREADS",
        help="Threads of each slot.",
        show_default="its share of cores",
    ),
]
MaxTrials = Annotated[int | None, typer.Option(min=1, help="Stop after so many trials.")]
IdleExit = Annotated[
    float | None, typer.Option(min=0, help="Stop after so many seconds with nothing to train.")
]
MemoryLimit = Annotated[
    float | None, typer.Option(min=0.001, help="End a training that has more than so many GB.")
]
TimeLimit = Annotated[
    float | None, typer.Option(min=0.001, help="End a training that takes more than so many seconds.")
]
StallLimit = Annotated[
    float | None, typer.Option(min=0.001, help="End a training that reports nothing for so many seconds.")
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
CheckpointDir = Annotated[
    Path | None,
    typer.Option(
        help="Where trainings are kept, so that another attempt goes on with them; may be shared.",
        show_default="~/.local/state/thiessen/checkpoints",
        file_okay=False,
    ),
]
CheckpointEvery = Annotated[
    float, typer.Option(min=0, help="Seconds between two checkpoints, for tasks that ask.")
]
Grace = Annotated[
    float, typer.Option(min=0, help="Seconds that a training may take to its checkpoint, told to stop.")
]
OfflineFor = Annotated[
    float,
    typer.Option(
        min=0, envvar="THIESSEN_OFFLINE_FOR", help="Bear a server that is away for so many seconds."
    ),
]
Track = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND:WHERE",
        help="Write every attempt to tensorboard:FOLDER or mlflow:URI too; repeatable.",
    ),
]
LogFormat = Annotated[str, typer.Option(help="auto, human or json.")]


def register(commands: typer.Typer) -> None:
    """Add the worker's command."""
    commands.command()(worker)


def worker(
    server: Server = "http://127.0.0.1:8000",
    token: Token = None,
    token_file: TokenFile = None,
    devices: Devices = "auto",
    slots_per_device: SlotsPerDevice = 1,
    study: Studies = None,
    task: Tasks = None,
    name: Name = None,
    threads: Threads = None,
    max_trials: MaxTrials = None,
    idle_exit: IdleExit = None,
    memory_limit: MemoryLimit = None,
    time_limit: TimeLimit = None,
    stall_limit: StallLimit = None,
    label: Labels = None,
    spool_dir: SpoolDir = None,
    checkpoint_dir: CheckpointDir = None,
    checkpoint_every: CheckpointEvery = 60.0,
    grace: Grace = 10.0,
    offline_for: OfflineFor = 3600.0,
    track: Track = None,
    log_format: LogFormat = "auto",
) -> None:
    """Train trials for a server, one at a time in each slot, until stopped.

    SIGTERM or Ctrl-C lets trainings that keep checkpoints reach one, gives the trials in hand back and stops;
    a second one stops at once.

    Example: thiessen worker --server http://10.0.0.5:8000 --devices cuda:0,1
    """
    # Idle threads of OpenMP sleep instead of spinning: on a busy machine training is many times faster.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

    from thiessen.client import Client
    from thiessen.errors import ThiessenError
    from thiessen.patience import Patience
    from worker import daemon, logs, standing, tracking
    from worker.attempt import Terms
    from worker.limits import Limits

    console = _console(log_format)
    secret = _token(token, token_file)
    chosen, threads = _slots(devices, slots_per_device, threads)
    stop = threading.Event()
    stop_on_signals(stop)
    _check_names([*(study or ()), *([name] if name else ())])
    work = partial(
        daemon.Worker,
        name=name or _host(),
        slots=chosen,
        offers=_offers(task or ()),
        labels=_labels(label or ()),
        studies=study,
        spool=_spool(spool_dir),
        patience=Patience(stop=stop, offline_seconds=offline_for),
        terms=Terms(
            limits=Limits(memory_gb=memory_limit, seconds=time_limit, silence_seconds=stall_limit),
            checkpoints=_checkpoints(checkpoint_dir),
            checkpoint_seconds=checkpoint_every,
            grace_seconds=grace,
        ),
        idle_exit_seconds=idle_exit,
        threads=threads,
        tickets=daemon.Tickets(max_trials),
    )
    trackers = or_fail(tracking.NoTracker, lambda: tracking.chosen(track or ()))
    try:
        with (
            tracking.Tracking(trackers) as tracked,
            Client(server, token=secret, timeout_seconds=daemon.ANSWER_SECONDS, retry_pauses=()) as client,
        ):
            _check_ready(client)
            ready = work(client=client, tracking=tracked)
            daemon.log.info("Working for %s on %s", client.url, ", ".join(slot.device for slot in chosen))
            with standing.shown(ready.standings, console, log_format):
                daemon.run(ready)
    except ThiessenError as error:
        raise CommandFailed(logs.redacted(str(error))) from error


def _console(log_format: str) -> "Terminal":
    """Return where this command writes, with its log sent there."""
    from thiessen.console import Terminal
    from worker import logs

    if log_format not in logs.FORMATS:
        formats = ", ".join(logs.FORMATS)
        raise CommandFailed(f"{log_format!r} is no format of the log: choose one of {formats}.")
    console = Terminal(stderr=True)
    logs.configure(log_format, console)
    return console


def _slots(wish: str, slots_per_device: int, threads: int | None) -> tuple[list["Slot"], int]:
    """Return the slots of a wish, and how many threads each has."""
    from worker import devices
    from worker.child import Place
    from worker.slot import Slot

    chosen = or_fail(devices.NoSuchDevice, lambda: devices.chosen(wish, slots_per_device))
    threads = threads or devices.threads(len(chosen))
    os.environ.update(dict.fromkeys(READERS_OF_THREADS, str(threads)))  # read by children when they start
    ours = os.environ.get("CUDA_VISIBLE_DEVICES")
    places = [
        Place(
            device=device,
            visible_gpus=devices.visible(device, ours),
            threads=threads,
        )
        for device in chosen
    ]
    return [Slot(place) for place in places], threads


def _token(given: str | None, file: Path | None) -> str | None:
    """Return the token, and leave it in no environment: what this worker trains has no use for it."""
    for variable in ("THIESSEN_TOKEN", "THIESSEN_TOKEN_FILE"):
        os.environ.pop(variable, None)
    if file is None:
        return given or None
    if given:
        raise CommandFailed("there is a token and a --token-file: give one of them.")
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"the token cannot be read from {file}: {error}.") from error


def or_fail(refusal: type[Exception], call: Callable[[], T]) -> T:
    """Return what the call does; what is refused ends the command."""
    try:
        return call()
    except refusal as error:
        raise CommandFailed(str(error)) from error


def stop_on_signals(stop: threading.Event) -> None:
    """Let the first signal set `stop`, and the second one end the process."""

    def finish(number: int, frame: object) -> None:
        del frame
        if stop.is_set():
            os._exit(SIGNALLED + number)
        stop.set()

    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGINT, finish)


def _check_names(given: Sequence[str]) -> None:
    from thiessen.contract.words import NAME

    for name in given:
        if not re.fullmatch(NAME, name):
            raise CommandFailed(f"{name!r} is not a name: use letters, digits, dot, underscore and hyphen.")


def _offers(wishes: Sequence[str]) -> "dict[str, Offer]":
    from worker import functions

    offers = or_fail(functions.NoSuchTask, lambda: functions.chosen(wishes))
    if not offers:
        raise CommandFailed("no task is installed here; install a package that offers one.")
    _check_names(list(offers))
    return {name: offers[name] for name in sorted(offers)}


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


def _checkpoints(folder: Path | None) -> Path:
    from worker import checkpoint
    from worker.spool import state_folder

    folder = folder or state_folder() / "checkpoints"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        checkpoint.forget(folder)
    except OSError as error:
        raise CommandFailed(
            f"checkpoints cannot be kept in {folder}: {error.strerror or error}. "
            "Choose another --checkpoint-dir."
        ) from error
    return folder.resolve()


def _check_ready(client: "Client") -> None:
    if not client.is_ready():
        raise CommandFailed(
            f"no server answers at {client.url}. Start one with `thiessen serve`, or give its address "
            "without a path."
        )


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname()).strip("-._")[:100] or "worker"
