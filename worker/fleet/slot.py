"""A worker of one slot, inside whatever process somebody else gives it."""

import threading
from dataclasses import dataclass
from pathlib import Path

from thiessen.client import Client
from worker import daemon, devices
from worker.patience import Patience
from worker.slot import Slot as Child
from worker.spool import Spool, usual_folder
from worker.tasks import installed


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
        try:
            self._run()
        except BaseException as fault:  # noqa: BLE001 - handed to who waits
            self._fault = fault

    def _run(self) -> None:
        """Train on the first device that this process is shown."""
        order = self._order
        tasks = [task for name, task in sorted(installed().items()) if name in (order.tasks or (name,))]
        device, threads = devices.chosen("auto")[0], devices.threads(1)
        with Client(
            order.server, token=order.token, timeout_seconds=daemon.ANSWER_SECONDS, retry_pauses=()
        ) as client:
            daemon.run(
                daemon.Worker(
                    name=self._name,
                    client=client,
                    slots=[Child(device, threads)],
                    tasks=tasks,
                    labels={},
                    studies=list(order.studies) or None,
                    spool=Spool(order.spool or usual_folder()),
                    patience=Patience(stop=self._stop, offline_seconds=order.offline_seconds),
                    idle_exit_seconds=order.idle_exit_seconds,
                    threads=threads,
                )
            )
