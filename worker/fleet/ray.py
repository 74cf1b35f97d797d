"""Slots on a Ray cluster: an actor each, as many as there is work for, wherever Ray finds room."""

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when it is imported: it tells nobody of us

import ray
from ray.exceptions import ActorUnavailableError, RayError

from thiessen.client import Client
from thiessen.errors import ServerFailed, ServerUnreachable
from worker.fleet.demand import active, demand
from worker.fleet.slot import Order, Slot

ROUND_SECONDS: Final = 2.0  # between two looks at the studies
STOP_SECONDS: Final = 60.0  # for all slots to give their trials back

log = logging.getLogger("thiessen.worker")


@dataclass(frozen=True, kw_only=True)
class Share:
    """What Ray gives each slot."""

    gpus: float = 0.0
    cpus: float = 1.0
    resources: Mapping[str, float] = field(default_factory=dict)


class NoCluster(Exception):  # noqa: N818 - says what happened
    """There is no Ray cluster at an address; the message says what to do."""


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Be connected to a cluster; `local` is one on this machine that ends with this. Raises NoCluster."""
    try:
        ray.init(address=address, log_to_driver=True, logging_level=logging.WARNING)
    except (ConnectionError, RayError) as error:
        raise NoCluster(
            f"no Ray cluster answers at {address!r}: {error}. Start one with `ray start --head`, or say "
            "--address local."
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


class Fleet:
    """The slots on the cluster that this process is connected to."""

    def __init__(self, client: Client, order: Order, share: Share, *, most: int) -> None:
        self._client = client
        self._order = order
        self._most = most
        self._actor: Any = ray.remote(Slot).options(
            num_gpus=share.gpus,
            num_cpus=share.cpus,
            resources=dict(share.resources),
            max_restarts=0,  # what is lost is replaced here, if there is still work for it
            max_concurrency=2,  # to be told to stop while somebody waits for it
        )
        self._slots: dict[Any, Any] = {}  # actors, each by what tells that it has ended
        self._name = token_hex(3)
        self._started = 0

    def __len__(self) -> int:
        return len(self._slots)

    def keep(self) -> int:
        """Let go of the slots that have ended, start those that are missing; return how many are wanted.

        Raises ServerUnreachable, ServerFailed, Refused.
        """
        self._let_go()
        studies = active(self._client, tasks=self._order.tasks, names=self._order.studies)
        wanted = min(demand(studies), self._most)
        for _ in range(wanted - len(self)):
            self._start()
        return wanted

    def stop(self) -> None:
        """Have every slot give its trial back and end; one that does not in time is ended."""
        for actor in self._slots.values():
            actor.stop.remote()
        if self._slots:
            ray.wait(list(self._slots), num_returns=len(self), timeout=STOP_SECONDS)
        for actor in self._slots.values():
            ray.kill(actor)
        self._slots.clear()

    def _start(self) -> None:
        self._started += 1
        actor = self._actor.remote(f"ray-{self._name}-{self._started}", self._order)
        self._slots[actor.wait.remote()] = actor

    def _let_go(self) -> None:
        if not self._slots:
            return
        ended, _ = ray.wait(list(self._slots), num_returns=len(self), timeout=0)
        for told in ended:
            actor = self._slots.pop(told)
            try:
                ray.get(told)
            except ActorUnavailableError:  # a gap in the network: the slot may well go on, so ask again
                self._slots[actor.wait.remote()] = actor
                continue
            except RayError as error:  # its node is gone, or its process, or it failed
                log.warning("A slot is lost; its trial is leased again when its lease expires. %s", error)
            ray.kill(actor)  # what Ray gave it is free at once


def run(fleet: Fleet, stop: threading.Event, *, idle_exit_seconds: float | None) -> None:
    """Keep the fleet until told to stop, or until it has had nothing to do for so long. Raises Refused."""
    idle_for, told = 0.0, (-1, -1)
    try:
        while not stop.is_set() and (idle_exit_seconds is None or idle_for <= idle_exit_seconds):
            try:
                wanted = fleet.keep()
            except (ServerUnreachable, ServerFailed) as error:
                log.warning("The fleet stays as it is: %s", error)
                wanted = len(fleet)
            if (len(fleet), wanted) != told:
                told = len(fleet), wanted
                log.info("%d slots, %d wanted", *told)
            idle_for = 0.0 if wanted or len(fleet) else idle_for + ROUND_SECONDS
            stop.wait(ROUND_SECONDS)
    finally:
        fleet.stop()
