"""Workers say what they have and can train. Each is a step."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from app.domain.access import Principal, Scope
from app.domain.errors import InvalidRequest, TaskNotFound, WorkerOfAnother
from app.domain.offer import faults
from app.storage import Transaction, bell, clock, offers, tokens, workers
from app.storage.workers import Registered
from thiessen.space import Space

MOST_FAULTS: Final = 5  # told of one space
GONE_AFTER: Final = timedelta(minutes=5)  # of silence; its name is then free for others


@dataclass
class Offered:
    """A task that workers can train."""

    name: str
    versions: set[str] = field(default_factory=set)
    workers: int = 0
    description: str = ""
    offer: str | None = None  # the digest of what it accepts
    schema: dict[str, Any] = field(default_factory=dict)
    spaces: dict[str, Any] = field(default_factory=dict)


def register(
    tx: Transaction, name: str, who: Principal, tasks: list[dict[str, Any]], **told: Any
) -> Registered:
    """Store what a worker says of itself, unless the name is another's. Raises WorkerOfAnother."""
    known = workers.registered(tx, name)
    if known is not None and not _may_replace(tx, known, who):
        raise WorkerOfAnother(name, who)
    instead_of = who.name if known is None else known.who
    found = workers.register(tx, name, who=who.name, instead_of=instead_of, tasks=_kept(tx, tasks), **told)
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


def offered(tx: Transaction, project: str | None = None) -> list[Offered]:
    """Return every task that some worker offers, by name; of a project those of its own workers alone."""
    found: dict[str, Offered] = {}
    for told in chain.from_iterable(workers.tasks(tx, project)):
        known = found.setdefault(told["name"], Offered(told["name"]))
        known.workers += 1
        known.versions |= {told["version"]} - {None}
        known.description = known.description or told["description"]
        known.offer = known.offer or told.get("offer")
    documents = offers.read(tx, {task.offer for task in found.values() if task.offer})
    for task in found.values():
        document = documents.get(task.offer or "", {})
        task.schema, task.spaces = document.get("schema", {}), document.get("spaces", {})
    return [found[name] for name in sorted(found)]


def task(tx: Transaction, name: str, project: str | None = None) -> Offered:
    """Return what a task accepts. Raises TaskNotFound."""
    found = {each.name: each for each in offered(tx, project)}
    if name not in found:
        raise TaskNotFound(name, found)
    return found[name]


def names(tx: Transaction, project: str) -> set[str]:
    """Return the tasks that the workers of a project offer."""
    return {task["name"] for task in chain.from_iterable(workers.tasks(tx, project))}


def must_be_trainable(tx: Transaction, project: str, task: str, space: Space) -> None:
    """Raise InvalidRequest when each version of a task that is registered refuses the space.

    A task that nobody has registered yet may accept anything.
    """
    registered = [each for each in chain.from_iterable(workers.tasks(tx, project)) if each["name"] == task]
    documents = offers.read(tx, {each["offer"] for each in registered if each.get("offer")})
    schemas = [documents.get(each.get("offer") or "", {}).get("schema", {}) for each in registered]
    refused = [faults(space, schema) for schema in schemas]
    if refused and all(refused):
        version = registered[0]["version"]
        raise InvalidRequest(
            f"The space is not one of task {task!r}{f' in version {version}' if version else ''}: "
            f"{'; '.join(refused[0][:MOST_FAULTS])}. GET /api/v1/tasks/{task} says what it accepts."
        )


def _kept(tx: Transaction, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Store what tasks accept; return the tasks with the digest of that in its place."""
    documents: dict[str, Any] = {}
    lean = []
    for task in tasks:
        document = {"schema": task["schema"], "spaces": task["spaces"]}
        digest = sha256(json.dumps(document).encode()).hexdigest() if any(document.values()) else None
        if digest is not None:
            documents[digest] = document
        lean.append({name: task[name] for name in ("name", "version", "description")} | {"offer": digest})
    offers.keep(tx, documents)
    return lean
