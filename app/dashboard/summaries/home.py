"""The first page: what runs, what needs somebody, the newest studies, the fleet."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from app.dashboard.summaries.comparisons import ComparisonLine, line
from app.dashboard.summaries.lines import StudyLine, study_line
from app.dashboard.summaries.sparkline import MOST, Sparkline, sparkline
from app.dashboard.values import many
from app.domain.study import Progress, StudyState
from app.domain.trial import TrialState
from app.house import House
from app.lifecycle import comparison_progress, register, submit
from app.storage import Transaction, clock, projects, trials, workers
from thiessen.contract.words import NAME

MOST_STUDIES: Final = 50
MOST_ACTIVE: Final = 8  # with a card each
MOST_COMPARED: Final = 4  # comparisons that run, with a card each
MOST_NEEDS: Final = 3


@dataclass(frozen=True)
class Need:
    """Something that a person may want to look at, and where."""

    says: str
    link: str
    to: str
    kind: str


@dataclass(frozen=True)
class Fleet:
    """The workers that were heard lately, and their slots."""

    connected: int
    slots: int
    busy: int
    draining: int


@dataclass(frozen=True)
class Home:
    """The first page: what runs, what needs somebody, the newest studies, the fleet."""

    says: str
    needs: list[Need]
    active: list[StudyLine]
    comparisons: list[ComparisonLine]  # that go on
    studies: list[StudyLine]
    lines: Mapping[str, Sparkline | None]  # the best so far, by name of the study
    fleet: Fleet
    sought: str
    is_live: bool


def read_home(house: House, project: str, sought: str = "") -> Home:
    """Return what runs, and the newest studies, of those that are sought. Raises ProjectNotFound."""
    running, going_on, newest, lines, fleet = house.store.read(
        partial(_at_once, project=project, sought=sought)
    )
    active = [study_line(progress) for progress in running]
    told = "Nothing runs."
    if active:
        run = many(sum(each.running for each in active), "trial")
        verb = "study is" if len(active) == 1 else "studies are"
        least = "at least " if len(active) == MOST_ACTIVE else ""
        told = f"{least}{len(active)} {verb} active; {run} run now.".capitalize()
    return Home(
        says=told,
        needs=_needs(active, fleet)[:MOST_NEEDS],
        active=active,
        comparisons=[line(each) for each in going_on],
        studies=[study_line(progress) for progress in newest],
        lines=lines,
        fleet=fleet,
        sought=sought,
        is_live=bool(active or going_on),
    )


def _at_once(
    tx: Transaction, project: str, sought: str
) -> tuple[
    Iterable[Progress],
    Sequence[comparison_progress.Progress],
    Iterable[Progress],
    Mapping[str, Sparkline | None],
    Fleet,
]:
    pages = partial(submit.page, tx, project)
    projects.named(tx, project)
    active = pages(MOST_ACTIVE, state=StudyState.ACTIVE)
    going_on = comparison_progress.page(tx, project, MOST_COMPARED, state=StudyState.ACTIVE)
    newest = _sought(pages, sought)
    lines = {each.study.spec.name: _line(tx, each) for each in newest}
    since = clock.read(tx) - register.GONE_AFTER
    heard = [worker for worker in workers.every(tx, project) if worker.seen_at >= since]
    fleet = Fleet(
        connected=len(heard),
        slots=sum(len(worker.slots) for worker in heard),
        busy=sum(worker.running for worker in heard),
        draining=sum(worker.is_draining for worker in heard),
    )
    return active, going_on, newest, lines, fleet


def _sought(pages: Callable[..., Sequence[Progress]], sought: str) -> Sequence[Progress]:
    """Return the newest studies whose name begins so; after a # those with such a tag."""
    name = sought.removeprefix("#")
    if not sought:
        return pages(MOST_STUDIES)
    if not re.fullmatch(NAME, name):
        return []
    return pages(MOST_STUDIES, tag=name) if sought.startswith("#") else pages(MOST_STUDIES, prefix=name)


def _line(tx: Transaction, progress: Progress) -> Sparkline | None:
    if progress.best is None:
        return None
    study = progress.study
    return sparkline(trials.first_and_best(tx, study.id, MOST), study.standing.trials)


def _needs(active: list[StudyLine], fleet: Fleet) -> list[Need]:
    """Return what keeps studies from going on, each with where to look."""
    found = []
    if active and not fleet.connected:
        found.append(
            Need("No worker is connected, so nothing is trained.", "#fleet", "See the fleet", "wait")
        )
    else:
        waiting = [each for each in active if each.waits_for is not None and not each.running]
        found += [
            Need(f"{each.name} waits. {each.waits_for}", _place(each), "See the study", "wait")
            for each in waiting
        ]
    for each in active:
        failed = next((part.count for part in each.parts if part.state == TrialState.FAILED), 0)
        if failed:
            says = f"{many(failed, 'trial')} of {each.name} failed in all attempts."
            found.append(Need(says, f"{_place(each)}/trials?filter=state:failed", "See why", "failed"))
    return found


def _place(study: StudyLine) -> str:
    return f"studies/{study.name}"
