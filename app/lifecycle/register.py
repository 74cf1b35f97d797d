"""Workers say what they have and can train. Each is a step."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from app.storage import Transaction, bell, workers
from app.storage.workers import Registered


@dataclass
class Offered:
    """A task that workers can train."""

    name: str
    versions: set[str] = field(default_factory=set)
    workers: int = 0
    description: str = ""
    dimensions: dict[str, Any] = field(default_factory=dict)


def drain(tx: Transaction, name: str, *, is_draining: bool) -> Registered:
    """Tell a worker to lease no more, or to go on. Raises WorkerNotFound."""
    workers.change(tx, name, is_draining=is_draining)
    bell.ring(tx, 0)  # of no study: it waits for any
    return next(worker for worker in workers.every(tx) if worker.name == name)


def tasks_on_offer(registered: Iterable[Registered]) -> list[Offered]:
    """Return every task that some worker has registered, by name."""
    offered: dict[str, Offered] = {}
    for worker in registered:
        for task in worker.tasks:
            known = offered.setdefault(task["name"], Offered(task["name"]))
            known.workers += 1
            known.versions |= {task["version"]} - {None}
            known.description = known.description or task["description"]
            known.dimensions = known.dimensions or task["dimensions"]
    return [offered[name] for name in sorted(offered)]
