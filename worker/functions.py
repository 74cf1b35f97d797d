"""Tasks of this machine: what is installed, and functions named as `module:function`."""

import hashlib
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from worker.tasks import Task, installed

VERSION_LENGTH: Final = 12


class NoSuchTask(ValueError):  # noqa: N818 - says what happened
    """A task that was asked for and is not here."""


@dataclass(frozen=True)
class Offer:
    """A task, and where it is written: as `module:name`, for a child process to find it there too."""

    task: Task
    reference: str


def chosen(wishes: Sequence[str]) -> dict[str, Offer]:
    """Return the tasks of these names and functions; without any, all installed. Raises NoSuchTask."""
    here = _installed()
    if not wishes:
        return here
    offers = [function(wish) if ":" in wish else _named(wish, here) for wish in wishes]
    return {offer.task.name: offer for offer in offers}


def function(reference: str) -> Offer:
    """Return the task of `module:function`, named module.function; its version is the hash of its source.

    The module may lie in the folder where the worker was started. Raises NoSuchTask.
    """
    name = reference.partition(":")[0]
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        task = written(reference)
        file = Path(inspect.getfile(sys.modules[name]))
        version = hashlib.sha256(file.read_bytes()).hexdigest()[:VERSION_LENGTH]
    except Exception as error:
        raise NoSuchTask(f"{reference!r} cannot be loaded: {type(error).__name__}: {error}.") from error
    if not callable(task.train):
        raise NoSuchTask(f"{reference!r} is no function train(config, context), and no Task.")
    return Offer(replace(task, version=task.version or version), reference)


def written(reference: str) -> Task:
    """Return what is written there: a task, or a function as the task module.function.

    Raises whatever its module does.
    """
    found = resolve_name(reference)
    return found if isinstance(found, Task) else Task(reference.replace(":", "."), found)


def _installed() -> dict[str, Offer]:
    """Return what is installed and can be loaded, by name."""
    tasks = installed()
    places: dict[str, str] = {}
    for entry in entry_points(group="thiessen.tasks"):
        with suppress(Exception):  # `installed` has said so
            places[entry.load().name] = entry.value
    return {name: Offer(task, places[name]) for name, task in tasks.items()}


def _named(name: str, here: Mapping[str, Offer]) -> Offer:
    if name not in here:
        raise NoSuchTask(
            f"the task {name!r} is not installed here: there are {', '.join(sorted(here)) or 'none'}. "
            "A function of your own is named as module:function."
        )
    return here[name]


def source(task: Task) -> Path | None:
    """Return the file that a task's function is written in; None where there is none."""
    try:
        return Path(inspect.getsourcefile(inspect.unwrap(task.train)) or os.devnull).resolve(strict=True)
    except (OSError, TypeError):
        return None
