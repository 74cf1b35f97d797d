"""Studies side by side: what is known of each, and whether that is fair to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from app import wire
from app.dashboard.values import many
from app.domain.errors import StudyNotFound
from app.domain.study import Direction, Progress, StudyState
from app.house import House
from app.lifecycle import submit
from app.storage import Transaction, projects
from thiessen.comparison.side_by_side import Check, checks, facts
from thiessen.figures.arms import MOST_ARMS
from thiessen.figures.text import short

MOST_LISTED: Final = 50  # studies to choose from, the newest


@dataclass(frozen=True)
class Side:
    """One of the studies."""

    name: str
    state: str
    strategy: str
    finished: int
    expected: int
    outcomes: list[tuple[str, int]]  # states and how many trials are in them
    gpu_hours: str
    best: str
    exact: str
    trial: int | None
    is_best: bool


@dataclass(frozen=True)
class Choice:
    """A study that can be chosen."""

    name: str
    task: str
    is_chosen: bool


@dataclass(frozen=True)
class Comparison:
    """Studies side by side."""

    says: str
    wrong: str | None
    sides: list[Side]
    checks: list[Check]
    choices: list[Choice]
    axes: Mapping[str, list[tuple[str, bool]]]  # dimensions to choose for x and y
    figures: list[str]  # that can be drawn
    query: str  # of them
    rows: int  # of panels
    is_live: bool


def read_comparison(
    house: House, project: str, names: Sequence[str], *, x: str | None, y: str | None
) -> Comparison:
    """Return these studies side by side; fewer than two are a choice. Raises ProjectNotFound."""
    names = list(dict.fromkeys(names))
    found, newest, wrong = house.store.read(lambda tx: _at_once(tx, project, names))
    known = [facts(wire.study(each)) for each in found]
    if not wrong and len(found) == 1:
        wrong = "One study alone cannot be compared: choose another one beside it."
    is_one = len(found) < 2 or wrong is not None
    chosen = {each.study.spec.name for each in found}
    query = [("study", each["study"]) for each in known]
    query += [(name, said) for name, said in (("x", x), ("y", y)) if said]
    return Comparison(
        says="Choose two studies or more." if is_one else _told(found, known),
        wrong=wrong,
        sides=[] if is_one else _sides(found, known),
        checks=[] if is_one else checks(known),
        choices=[
            Choice(spec.name, spec.task, is_chosen=spec.name in chosen)
            for spec in (each.study.spec for each in newest)
        ],
        axes={} if is_one else _axes(found, x, y),
        figures=[] if is_one else _figures(found),
        query=urlencode(query),
        rows=-(-len(found) // 3),
        is_live=any(each.study.standing.state is StudyState.ACTIVE for each in found),
    )


def _at_once(
    tx: Transaction, project: str, names: Sequence[str]
) -> tuple[list[Progress], Sequence[Progress], str | None]:
    projects.named(tx, project)
    newest = submit.page(tx, project, MOST_LISTED)
    if len(names) > MOST_ARMS:
        return [], newest, f"At most {MOST_ARMS} studies stand side by side; {len(names)} are chosen."
    found = []
    for name in names:
        try:
            found.append(submit.progress(tx, project, name))
        except StudyNotFound:
            return [], newest, f"There is no study named “{name}”."
    return found, newest, None


def _sides(found: Sequence[Progress], known: Sequence[Mapping[str, Any]]) -> list[Side]:
    best = _best(found)
    return [
        Side(
            name=each["study"],
            state=progress.study.standing.state.value,
            strategy=each["strategy"],
            finished=each["finished"],
            expected=each["expected"],
            outcomes=[
                (state, each[state]) for state in ("succeeded", "diverged", "pruned", "failed", "cancelled")
            ],
            gpu_hours=_hours(each["gpu_hours"]),
            best=short(each["best"]),
            exact="" if each["best"] is None else str(each["best"]),
            trial=None if progress.best is None else progress.best.number,
            is_best=progress is best,
        )
        for progress, each in zip(found, known, strict=True)
    ]


def _hours(hours: float) -> str:
    return "< 0.01" if 0 < hours < 0.01 else f"{hours:.3g}"


def _best(found: Sequence[Progress]) -> Progress | None:
    """Return the study with the best value, None where values cannot be told apart."""
    if len({(each.study.spec.direction, each.study.spec.task) for each in found}) > 1:
        return None
    ranked = sorted((each.best.loss, at) for at, each in enumerate(found) if each.best is not None)
    if len(ranked) < 2 or ranked[0][0] == ranked[1][0]:
        return None
    return found[ranked[0][1]]


def _told(found: Sequence[Progress], known: Sequence[Mapping[str, Any]]) -> str:
    """Return in a sentence which one has found more, as far as that can be said."""
    best = _best(found)
    if best is None or best.best is None:
        return f"{len(found)} studies, none of which is ahead of the others."
    named = {each["study"]: each for each in known}
    name = best.study.spec.name
    rest = "; ".join(
        f"{other} {short(each['best'])} after {each['finished']}"
        for other, each in named.items()
        if other != name and each["best"] is not None
    )
    word = "lowest" if best.study.spec.direction is Direction.MINIMIZE else "highest"
    return (
        f"{name} has the {word} value, {short(best.best.value)} after "
        f"{many(named[name]['finished'], 'trial')}; {rest}. "
        "One run of each says little: repeat it with other seeds."
    )


def _figures(found: Sequence[Progress]) -> list[str]:
    """Return the figures in which they can share a scale."""
    if len({each.study.spec.direction for each in found}) > 1:
        return []
    first = found[0].space
    has_panels = len(first.dimensions) > 1 and all(each.space == first for each in found)
    return ["arms", "interaction"] if has_panels else ["arms"]


def _axes(found: Sequence[Progress], x: str | None, y: str | None) -> dict[str, list[tuple[str, bool]]]:
    """Return the dimensions of the panels to choose from, where there is a choice."""
    names = list(found[0].space.dimensions)
    if len(names) < 3:
        return {}
    first = x if x in names else next(name for name in names if name != y)
    second = y if y in names else next(name for name in names if name != first)
    return {
        "x": [(name, name == first) for name in names],
        "y": [(name, name == second) for name in names],
    }
