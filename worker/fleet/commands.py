"""The fleet's part of the command line. Heavy packages are imported when the command runs."""

import logging
import sys
import threading
from collections.abc import Sequence
from typing import Annotated

import typer

from thiessen.cli.failure import CommandFailed
from worker.commands import (
    CheckpointDir,
    IdleExit,
    OfflineFor,
    Server,
    SpoolDir,
    Studies,
    Token,
    Track,
    or_fail,
    stop_on_signals,
)

Address = Annotated[str, typer.Option(help="Of the cluster; `local` is one on this machine, while it runs.")]
MostSlots = Annotated[int, typer.Option(min=1, help="However much there is to do.")]
Gpus = Annotated[float, typer.Option(min=0, help="A part of one may be shared: 0.5.")]
Cpus = Annotated[float, typer.Option(min=0, help="Cores of each slot.")]
Resources = Annotated[
    list[str] | None, typer.Option("--resource", metavar="NAME=AMOUNT", help="Of Ray's own; repeatable.")
]
Tasks = Annotated[list[str] | None, typer.Option(help="Work on this task only; repeatable.")]
SlotIdleExit = Annotated[
    float, typer.Option(min=0, help="A slot ends after so many seconds with nothing to train.")
]

fleet = typer.Typer(help="Slots on many machines, as many as there is work for.", no_args_is_help=True)


def register(commands: typer.Typer) -> None:
    """Add the fleet's commands."""
    commands.add_typer(fleet, name="fleet")


@fleet.callback()
def _fleet() -> None:
    """Slots on many machines, as many as there is work for."""


@fleet.command()
def ray(
    server: Server = "http://127.0.0.1:8000",
    token: Token = None,
    address: Address = "auto",
    max_slots: MostSlots = 64,
    gpus_per_slot: Gpus = 1.0,
    cpus_per_slot: Cpus = 1.0,
    resource: Resources = None,
    study: Studies = None,
    task: Tasks = None,
    slot_idle_exit: SlotIdleExit = 30.0,
    idle_exit: IdleExit = None,
    spool_dir: SpoolDir = None,
    checkpoint_dir: CheckpointDir = None,
    offline_for: OfflineFor = 3600.0,
    track: Track = None,
) -> None:
    """Keep as many slots busy on a Ray cluster as there are trials to run.

    Each slot is an actor: Ray chooses its node and gives it its GPUs. SIGTERM or Ctrl-C has them give their
    trials back; a second one stops at once. The token needs the scopes read and work.

    Example: thiessen fleet ray --server http://10.0.0.5:8000 --gpus-per-slot 1 --max-slots 16
    """
    try:
        from worker.fleet import ray as cluster
    except ImportError as error:
        raise CommandFailed('Ray is not installed here: pip install "thiessen[worker,ray]"') from error
    from thiessen.client import Client
    from thiessen.errors import ThiessenError
    from worker import tracking
    from worker.fleet.slot import Order

    or_fail(tracking.NoTracker, lambda: tracking.chosen(track or ()))  # here, before any slot fails for it
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    order = Order(
        server=server,
        token=token or None,
        tasks=tuple(task or ()),
        studies=tuple(study or ()),
        idle_exit_seconds=slot_idle_exit,
        offline_seconds=offline_for,
        spool=spool_dir,
        checkpoints=checkpoint_dir,
        track=tuple(track or ()),
    )
    share = cluster.Share(gpus=gpus_per_slot, cpus=cpus_per_slot, resources=_resources(resource or ()))
    stop = threading.Event()
    try:
        with Client(server, token=order.token) as client, cluster.connected(address):
            stop_on_signals(stop)  # now: Ray has put its own in place
            slots = cluster.Fleet(client, order, share, most=max_slots)
            cluster.run(slots, stop, idle_exit_seconds=idle_exit)
    except (ThiessenError, cluster.NoCluster) as error:
        raise CommandFailed(str(error)) from error


def _resources(given: Sequence[str]) -> dict[str, float]:
    resources = {}
    for text in given:
        name, _, amount = text.partition("=")
        try:
            resources[name] = float(amount)
        except ValueError:
            raise CommandFailed(f"{text!r} is not a resource: write NAME=AMOUNT, such as A100=1.") from None
    return resources
