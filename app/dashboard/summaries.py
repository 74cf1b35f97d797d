"""What a page shows, as numbers: one frozen dataclass a page."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.domain.study import DEFAULT_PROJECT, Progress, StudyState
from app.domain.trial import Ranked
from app.house import House
from app.lifecycle import rank, submit
from thiessen.integrations import KNOWN
from thiessen.search.settings import in_words

MOST_STUDIES = 50
MOST_CONFIGS = 10


@dataclass(frozen=True)
class StudyLine:
    """One study in the list."""

    name: str
    task: str
    strategy: str
    state: str
    finished: int
    max_trials: int | None  # of a mirror nobody knows it
    best_loss: float | None


@dataclass(frozen=True)
class Home:
    """The first page: the newest studies."""

    studies: list[StudyLine]
    is_live: bool


@dataclass(frozen=True)
class StudyPage:
    """One study: how far it is, and its best configs."""

    study: StudyLine
    counts: dict[str, int]
    dimensions: list[str]
    best: list[Ranked]
    is_live: bool


@dataclass(frozen=True)
class Call:
    """One call of the HTTP interface."""

    method: str
    path: str
    says: str
    example: str | None  # of its request
    statuses: list[str]


def calls(document: dict[str, Any]) -> list[Call]:
    """Return every call of an OpenAPI document, in its order."""
    return [
        Call(
            method.upper(),
            path,
            operation["description"],
            _example(document, operation),
            list(operation["responses"]),
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def _example(document: dict[str, Any], operation: dict[str, Any]) -> str | None:
    if "requestBody" not in operation:
        return None
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    first = schema.get("anyOf", [schema])[0]
    examples = document["components"]["schemas"][first["$ref"].rsplit("/", 1)[-1]]["examples"]
    return json.dumps(examples[0], indent=2)


def home(house: House) -> Home:
    """Return the newest studies."""
    found = house.store.read(partial(submit.page, project=DEFAULT_PROJECT, limit=MOST_STUDIES))
    return Home(
        studies=[_line(progress) for progress in found],
        is_live=any(progress.study.standing.state is StudyState.ACTIVE for progress in found),
    )


def study(house: House, name: str) -> StudyPage:
    """Return a study with its best configs. Raises StudyNotFound."""
    progress = house.store.read(partial(submit.progress, project=DEFAULT_PROJECT, name=name))
    return StudyPage(
        study=_line(progress),
        counts={state.value: count for state, count in progress.counts.items()},
        dimensions=list(progress.space.dimensions),
        best=house.store.read(partial(rank.best, project=DEFAULT_PROJECT, name=name, top=MOST_CONFIGS)),
        is_live=progress.study.standing.state is StudyState.ACTIVE,
    )


def _line(progress: Progress) -> StudyLine:
    study = progress.study
    return StudyLine(
        name=study.spec.name,
        task=study.spec.task,
        strategy=in_words(study.spec.strategy, KNOWN),
        state=study.standing.state.value,
        finished=sum(count for state, count in progress.counts.items() if state.is_terminal),
        max_trials=None if study.mirrors is not None else study.budget.max_trials,
        best_loss=None if progress.best is None else progress.best.loss,
    )
