"""A worker of one slot, inside whatever process somebody else gives it."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from thiessen.client import Client
from thiessen.patience import Patience
from worker import daemon, devices, functions, tracking
from worker.attempt import Terms
from worker.child import Place
from worker.limits import Limits
from worker.slot import Slot as Child
from worker.spool import Spool, state_folder, usual_folder


@dataclass(frozen=True, kw_only=True)
class Order:
    """For whom the slots of a fleet work, and on what."""

    server: str
    token: str | None
    tasks: tuple[str, ...]  # all that are installed, if none is named
    studies: tuple[str, ...]  # all, if none is named
    idle_exit_seconds: float
    offline_seconds: float
    spool: Path | None = None  # the usual one of the machine that it is on
    checkpoints: Path | None = None
    track: tuple[str, ...] = ()  # where every attempt is written too
    checkpoint_seconds: float = 60.0
    grace_seconds: float = 10.0


class Slot:
    """Works from the moment it is made until it has idled for long enough or is told to stop."""

    def __init__(self, name: str, order: Order) -> None:
        self._name = name
        self._order = order
        self._stop = threading.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=name)
        self._thread.start()

    def wait(self) -> None:
        """Return when it has ended. Raises what ended it. May be called again."""
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Give the trial in hand back, and end."""
        self._stop.set()

    def _work(self) -> None:
        order = self._order
        try:
            with (
                tracking.Tracking(tracking.chosen(order.track)) as tracked,
                Client(
                    order.server, token=order.token, timeout_seconds=daemon.ANSWER_SECONDS, retry_pauses=()
                ) as client,
            ):
                daemon.run(self._worker(client, tracked))
        except BaseException as fault:  # noqa: BLE001 - handed to who waits
            self._fault = fault

    def _worker(self, client: Client, tracked: tracking.Tracking) -> daemon.Worker:
        """Return a worker of all devices that this process is shown, as one slot."""
        order = self._order
        device, threads = devices.joined(devices.chosen("auto")), devices.threads(1)
        checkpoints = order.checkpoints or state_folder() / "checkpoints"
        checkpoints.mkdir(mode=0o700, parents=True, exist_ok=True)
        visible = devices.visible(device, os.environ.get("CUDA_VISIBLE_DEVICES"))
        return daemon.Worker(
            name=self._name,
            client=client,
            slots=[Child(Place(device=device, visible_gpus=visible, threads=threads))],
            offers=functions.chosen(order.tasks),
            labels={},
            studies=list(order.studies) or None,
            spool=Spool(order.spool or usual_folder()),
            patience=Patience(stop=self._stop, offline_seconds=order.offline_seconds),
            terms=Terms(
                limits=Limits(),
                checkpoints=checkpoints.resolve(),
                checkpoint_seconds=order.checkpoint_seconds,
                grace_seconds=order.grace_seconds,
            ),
            idle_exit_seconds=order.idle_exit_seconds,
            threads=threads,
            tracking=tracked,
        )
