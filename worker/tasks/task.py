"""What a task is, and what it may ask of the worker that runs it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from typing import Any, Protocol

import torch

from thiessen.space import Config

log = logging.getLogger("thiessen.worker")


class Checkpoint(Protocol):
    """Where the training of one trial is kept, so that another attempt goes on from there."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to save: every so many seconds, and at once when the worker stops."""

    def restore(self, **parts: Any) -> int:
        """Bring models, optimizers, generators and the global random numbers to where they were saved.

        Return the step after which to go on, 0 when nothing was saved.
        """

    def save(self, step: int, **parts: Any) -> None:
        """Keep the same parts after a step, whole or not at all. Raises Released when the worker stops."""


class Context(Protocol):
    """What surrounds one attempt."""

    @property
    def device(self) -> torch.device:
        """Where to train."""

    @property
    def seed(self) -> int:
        """The seed of this trial: the only source of its randomness."""

    @property
    def checkpoint(self) -> Checkpoint:
        """What an earlier attempt of this trial saved, and where to save."""

    @property
    def logger(self) -> logging.Logger:
        """Writes into the log of this attempt."""

    def expect(self, steps: int) -> None:
        """Say how many steps there will be, for whoever watches the worker."""

    def report(self, step: int, **metrics: float) -> None:
        """Send a point of the learning curve; steps rise. Raises Pruned when there is no need to go on."""


class Released(Exception):  # noqa: N818 - says what happened
    """Raised by `checkpoint.save` when the worker stops: let it pass, another attempt goes on from there."""


@dataclass(frozen=True)
class Task:
    """A named way to train: `train(config, context)` returns the value that the study minimises or maximises.

    Its version is that of its package, unless it has one of its own. With a schema the server refuses spaces
    that no config of would be taken; its spaces are for those who have none in mind, the usual one first.
    """

    name: str
    train: Callable[[Config, Context], float]
    version: str | None = None
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)  # JSON Schema of its configs; empty: any
    spaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by name, as in a study file


def installed() -> Mapping[str, Task]:
    """Return every task that this environment offers, by name; one that does not load is left out aloud."""
    tasks: dict[str, Task] = {}
    for entry in entry_points(group="thiessen.tasks"):
        try:
            task: Task = entry.load()
            version = task.version or (None if entry.dist is None else entry.dist.version)
            tasks[task.name] = replace(task, version=version)
        except Exception as error:  # noqa: BLE001 - somebody else's module may raise anything
            log.warning("task %r is left out: %s cannot be loaded: %r", entry.name, entry.value, error)
    return tasks
