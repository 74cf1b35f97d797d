"""A new study: what can be chosen for it, and what its budget means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from app.dashboard.sent import Fault, Form, by_field, number
from app.dashboard.study_form import KINDS, LABELS, RULES, Option, lines, options
from app.dashboard.values import many
from app.house import House
from app.lifecycle import register
from app.lifecycle.register import Offered
from app.storage import Transaction, clock, projects, workers

MOST_SPACES: Final = 12  # offered to begin with
USUAL_TRIALS: Final = 100
FOLDED: Final = {
    "seed", "max_running", "max_attempts", "deadline", "gpus", "gpu_memory_gb", "priority", "notes", "tags",
    "stopping", "stopping-metric", "stopping-threshold",
}  # fmt: skip
STARTER: Final = """\
name: my-study
task: my-task
max_trials: 100
strategy: biased_random
space:
  learning_rate: {type: float, low: 1.0e-4, high: 1, log: true}
  layers: {type: int, low: 1, high: 8}
  activation: {type: categorical, choices: [relu, tanh]}
  dropout: {type: float, low: 0, high: 0.5, when: {activation: [relu]}}
"""


@dataclass(frozen=True)
class TaskChoice:
    """A task that workers offer."""

    name: str
    told: str  # its versions, and what it does
    spaces: list[str]  # to begin with


@dataclass(frozen=True)
class Offers:
    """What the workers of a project can train, and on how many slots."""

    tasks: list[TaskChoice]
    slots: int


@dataclass(frozen=True, kw_only=True)
class NewStudy:
    """The form of a new study."""

    form: Form
    offers: Offers
    faults: Sequence[Fault] = ()
    strategies: list[Option] = field(default_factory=options)
    kinds: Mapping[str, str] = field(default_factory=lambda: KINDS)
    rules: Mapping[str, str] = field(default_factory=lambda: RULES)
    labels: Mapping[str, str] = field(default_factory=lambda: LABELS)

    @property
    def wrong(self) -> dict[str, str]:
        """What is wrong, by field."""
        return by_field(self.faults)

    @property
    def dimensions(self) -> list[tuple[int, Mapping[str, str]]]:
        """The rows of the space."""
        return list(lines(self.form))

    @property
    def consequence(self) -> str:
        """What the budget means for the workers that are there."""
        wanted = number(self.form.one("max_trials")) or USUAL_TRIALS
        if not isinstance(wanted, int) or wanted < 1:
            return ""
        if not self.offers.slots:
            return "No worker is connected: its trials wait until one is."
        rounds = -(-wanted // self.offers.slots)
        slots = many(self.offers.slots, "slot")
        return f"{many(wanted, 'trial')} on {slots}: {many(rounds, 'round')}, one after the other."

    @property
    def is_advanced(self) -> bool:
        """Whether something is typed, or wrong, in the part that is folded."""
        return any(self.form.one(name) for name in FOLDED) or not FOLDED.isdisjoint(self.wrong)


@dataclass(frozen=True, kw_only=True)
class NewText:
    """A new study as text."""

    text: str
    faults: Sequence[tuple[int | None, str, str]] = ()  # the line, what stands there, what is wrong
    note: str = ""


def read_offers(house: House, project: str) -> tuple[Offers, list[Offered]]:
    """Return what can be trained, for the form and in full. Raises ProjectNotFound."""
    found, slots = house.store.read(partial(_at_once, project=project))
    tasks = [TaskChoice(each.name, _told(each), list(each.spaces)[:MOST_SPACES]) for each in found]
    return Offers(tasks, slots), found


def _at_once(tx: Transaction, project: str) -> tuple[list[Offered], int]:
    projects.named(tx, project)
    since = clock.read(tx) - register.GONE_AFTER
    heard = (worker for worker in workers.every(tx, project) if worker.seen_at >= since)
    return register.offered(tx, project), sum(len(worker.slots) for worker in heard if not worker.is_draining)


def _told(task: Offered) -> str:
    versions = ", ".join(sorted(task.versions))
    return " · ".join(filter(None, (f"version {versions}" if versions else "", task.description)))


def space_of(offered: Iterable[Offered], task: str, space: str) -> Any:
    """Return a space that a task suggests, None if it does not."""
    return next((each.spaces.get(space) for each in offered if each.name == task), None)
