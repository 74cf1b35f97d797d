"""A new comparison as text, and what it costs before it is created."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from app.dashboard.summaries.comparisons import costs
from app.house import House
from app.lifecycle import register
from app.storage import Transaction, projects
from thiessen.comparison import plan
from thiessen.contract import ComparisonSpec
from thiessen.spelling import nearest

STARTER: Final = """\
name: my-comparison
task: my-task
settings: {updates: 200}
space:
  batch_size: {type: categorical, choices: [32, 128]}
arms:
  - label: sgd
    settings: {optimizer: sgd}
    space:
      lr: {type: float, low: 1.0e-3, high: 10, log: true}
  - label: kfac
    settings: {optimizer: kfac}
    space:
      damping: {type: float, low: 1.0e-4, high: 10, log: true}
budget: {trials: 20}
replicates: 10
confirm: {seeds: 3}
strategy: random
seed: 1
"""


@dataclass(frozen=True)
class PlannedArm:
    """An arm as it is going to be."""

    label: str
    task: str
    settings: list[tuple[str, str]]
    dimensions: Sequence[str]
    lacks: str  # a task that nobody offers yet, in words


@dataclass(frozen=True)
class Preview:
    """What a comparison costs, and what it consists of."""

    name: str
    costs: list[tuple[str, str]]
    arms: list[PlannedArm]
    of: str  # which text it is of


@dataclass(frozen=True, kw_only=True)
class NewComparison:
    """A new comparison as text."""

    text: str
    kind: str = "yaml"
    faults: Sequence[tuple[int | None, str, str]] = ()  # the line, what stands there, what is wrong
    preview: Preview | None = None


def digest(text: str, kind: str) -> str:
    """Return what tells a text from others."""
    return sha256(f"{kind}\n{text}".encode()).hexdigest()[:16]


def preview_of(house: House, project: str, spec: ComparisonSpec, of: str) -> Preview:
    """Return what a comparison is going to be. Raises ProjectNotFound."""
    offered = house.store.read(partial(_offered, project=project))
    return Preview(
        name=spec.name,
        costs=costs(plan.cost(spec).model_dump()),
        arms=[
            PlannedArm(
                label=arm.label,
                task=arm.task or spec.task,
                settings=[(name, str(value)) for name, value in plan.settings(spec, arm).items()],
                dimensions=plan.dimensions(spec, arm),
                lacks=_lacks(arm.task or spec.task, offered),
            )
            for arm in spec.arms
        ],
        of=of,
    )


def _offered(tx: Transaction, project: str) -> set[str]:
    projects.named(tx, project)
    return register.names(tx, project)


def _lacks(task: str, offered: set[str]) -> str:
    return "" if task in offered else f"No worker has registered task “{task}” yet; {nearest(task, offered)}."
