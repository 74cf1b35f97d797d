"""Workers say what they have and can train. Each is a step."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from app.domain.access import Principal, Scope
from app.domain.errors import WorkerOfAnother
from app.storage import Transaction, bell, clock, tokens, workers
from app.storage.workers import Registered

GONE_AFTER: Final = timedelta(minutes=5)  # of silence; its name is then free for others


@dataclass
class Offered:
    """A task that workers can train."""

    name: str
    versions: set[str] = field(default_factory=set)
    workers: int = 0
    description: str = ""
    dimensions: dict[str, Any] = field(default_factory=dict)


def register(tx: Transaction, name: str, who: Principal, **told: Any) -> Registered:
    """Store what a worker says of itself, unless the name is another's. Raises WorkerOfAnother."""
    known = workers.registered(tx, name)
    if known is not None and not _may_replace(tx, known, who):
        raise WorkerOfAnother(name, who)
    instead_of = who.name if known is None else known.who
    found = workers.register(tx, name, who=who.name, instead_of=instead_of, **told)
    if found.who != who.name:  # it was quicker
        raise WorkerOfAnother(name, who)
    return found


def _may_replace(tx: Transaction, known: Registered, who: Principal) -> bool:
    is_server_admin = who.may(Scope.ADMIN) and who.project is None
    if known.who == who.name or is_server_admin or not tokens.is_valid(tx, known.who):
        return True
    return clock.read(tx) - known.seen_at >= GONE_AFTER


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
