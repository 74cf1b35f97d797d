"""What a page shows, as numbers: one frozen dataclass a page."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Any, Final

from app.dashboard.values import MANY_DIMENSIONS, Shown, brief, many, shown, span
from app.domain.listing import Listing, Sort
from app.domain.study import DEFAULT_PROJECT, Progress, Study, StudyState
from app.domain.trial import Attempt, Origin, Ranked, Trial, TrialLine, TrialState
from app.house import House
from app.lifecycle import browse, register, submit
from app.storage import Transaction, clock, workers
from thiessen.figures.text import short
from thiessen.integrations import KNOWN
from thiessen.search import Reasons
from thiessen.search.settings import in_words

MOST_STUDIES: Final = 50
MOST_ACTIVE: Final = 8  # with a card each
MOST_NEEDS: Final = 3
MOST_TRIALS: Final = 12  # in a page of their table
ENDS: Final = [state for state in TrialState if state.is_terminal]


@dataclass(frozen=True)
class Part:
    """The trials of a study in one state: how many, and the part of its bar that they take, in percent."""

    state: str
    count: int
    begin: float
    width: float


@dataclass(frozen=True)
class Best:
    """The best config of a study."""

    number: int
    value: str
    exact: str
    config: Shown


@dataclass(frozen=True)
class StudyLine:
    """One study in a list."""

    name: str
    task: str
    strategy: str
    state: str
    reason: str | None
    finished: int
    wanted: int
    running: int
    parts: list[Part]
    eta: datetime | None
    waits_for: str | None
    best: Best | None


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
    studies: list[StudyLine]
    fleet: Fleet
    is_live: bool


@dataclass(frozen=True)
class Row:
    """One trial in a table."""

    number: int
    state: str
    value: str
    exact: str
    config: list[str]
    finished_at: datetime | None
    why: str


@dataclass(frozen=True)
class StudyPage:
    """One study: how far it is, its best config, which figures it has, and its newest trials."""

    study: StudyLine
    says: str
    notes: str
    tags: list[str]
    dimensions: list[str]
    columns: list[str]  # the dimensions that the table has room for
    figures: list[str]
    chosen: Mapping[str, str]
    rows: list[Row]
    state: str | None
    next: str | None
    is_first: bool
    is_live: bool


@dataclass(frozen=True)
class AttemptLine:
    """One execution of a trial."""

    number: int
    outcome: str
    where: str
    took: str
    message: str
    traceback: str
    log_tail: str


@dataclass(frozen=True)
class TrialPage:
    """One trial: its config beside the best one, why it was proposed, and its attempts."""

    study: str
    number: int
    state: str
    says: str
    why: str
    notes: str
    config: Shown
    rows: list[tuple[str, str, str]]  # name, here, in the best config
    best: Best | None
    attempts: list[AttemptLine]
    seed: int
    last: int  # the number of the newest trial
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
    """Return what runs, and the newest studies."""
    running, newest, fleet = house.store.read(_read_home)
    active = [_line(progress) for progress in running]
    told = "Nothing runs."
    if active:
        trials = many(sum(each.running for each in active), "trial")
        verb = "study is" if len(active) == 1 else "studies are"
        least = "at least " if len(active) == MOST_ACTIVE else ""
        told = f"{least}{len(active)} {verb} active; {trials} run now.".capitalize()
    return Home(
        says=told,
        needs=_needs(active, fleet)[:MOST_NEEDS],
        active=active,
        studies=[_line(progress) for progress in newest],
        fleet=fleet,
        is_live=bool(active),
    )


def _read_home(tx: Transaction) -> tuple[Iterable[Progress], Iterable[Progress], Fleet]:
    pages = partial(submit.page, tx, DEFAULT_PROJECT)
    active = pages(MOST_ACTIVE, state=StudyState.ACTIVE)
    since = clock.read(tx) - register.GONE_AFTER
    heard = [worker for worker in workers.every(tx, DEFAULT_PROJECT) if worker.seen_at >= since]
    fleet = Fleet(
        connected=len(heard),
        slots=sum(len(worker.slots) for worker in heard),
        busy=sum(worker.running for worker in heard),
        draining=sum(worker.is_draining for worker in heard),
    )
    return active, pages(MOST_STUDIES), fleet


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
            found.append(Need(says, f"{_place(each)}?state=failed#trials", "See why", "failed"))
    return found


def _place(study: StudyLine) -> str:
    return f"studies/{study.name}"


def study(
    house: House, name: str, *, state: TrialState | None, cursor: str | None, chosen: Mapping[str, str | None]
) -> StudyPage:
    """Return a study with a page of its trials, the newest first. Raises StudyNotFound, InvalidRequest."""
    progress, (found, following) = house.store.read(
        lambda tx: (
            submit.progress(tx, DEFAULT_PROJECT, name),
            browse.page(
                tx,
                DEFAULT_PROJECT,
                name,
                Listing(sort=Sort.NUMBER_DOWN, state=state),
                cursor=cursor,
                limit=MOST_TRIALS,
            ),
        )
    )
    line, remarks = _line(progress), progress.study.remarks
    dimensions = list(progress.space.dimensions)
    columns = dimensions[:MANY_DIMENSIONS]
    return StudyPage(
        study=line,
        says=f"Task {line.task}, searched by {line.strategy}, seed {progress.study.spec.seed}.",
        notes=remarks.notes,
        tags=list(remarks.tags),
        dimensions=dimensions,
        columns=columns,
        figures=_figures(progress),
        chosen={key: value for key, value in chosen.items() if value},
        rows=[_row(each, columns, line.waits_for) for each in found],
        state=state,
        next=following,
        is_first=cursor is None,
        is_live=progress.study.standing.state is StudyState.ACTIVE or line.running > 0,
    )


def _figures(progress: Progress) -> list[str]:
    """Return the figures that have something to show."""
    if not any(progress.counts[state] for state in ENDS):
        return []
    pairs = ["landscape", "parallel"] if len(progress.space.dimensions) > 1 else []
    return ["history", "slice", "importance", "curves", "timeline", *pairs]


def _row(line: TrialLine, columns: Iterable[str], waits_for: str | None) -> Row:
    return Row(
        number=line.number,
        state=line.state,
        value=short(line.value),
        exact="" if line.value is None else str(line.value),
        config=[brief(line.config[name]) if name in line.config else "" for name in columns],
        finished_at=line.finished_at,
        why=_why(line, waits_for),
    )


def _why(line: TrialLine, waits_for: str | None) -> str:
    """Return in a line why a trial is where it is."""
    cause = "" if line.cause is None else line.cause.replace("_", " ")
    match line.state:
        case TrialState.QUEUED if cause:
            return f"again after {cause}"
        case TrialState.QUEUED:
            return waits_for or "waits for a free slot"
        case TrialState.RUNNING:
            return f"attempt {line.attempts}" + (f" after {cause}" if cause else "")
        case TrialState.PRUNED:
            return "behind the others at the same step"
        case TrialState.DIVERGED:
            return "its loss is not finite"
    said = [cause] if cause else []
    said += [line.origin] if line.origin is not Origin.PROPOSED else []
    said += [f"attempt {line.attempts}"] if line.attempts > 1 else []
    return ", ".join(said)


def trial(house: House, name: str, number: int) -> TrialPage:
    """Return a trial. Raises StudyNotFound, TrialNotFound."""
    progress, found, now = house.store.read(
        lambda tx: (
            submit.progress(tx, DEFAULT_PROJECT, name),
            submit.trial(tx, DEFAULT_PROJECT, name, number),
            clock.read(tx),
        )
    )
    best = _best(progress)
    dimensions = progress.space.dimensions
    ranked = {} if progress.best is None else progress.best.config
    return TrialPage(
        study=name,
        number=number,
        state=found.state,
        says=_told(found),
        why=_proposed(found),
        notes=found.notes,
        config=shown(dimensions, found.config),
        rows=[(each, _held(found.config, each), _held(ranked, each)) for each in dimensions],
        best=best,
        attempts=[_attempt(each, now) for each in found.attempts],
        seed=found.seed,
        last=progress.study.standing.trials - 1,
        is_live=not found.state.is_terminal,
    )


def _held(config: Mapping[str, Any], name: str) -> str:
    return brief(config[name]) if name in config else "–"  # noqa: RUF001 - the sign for what is not there


def _told(found: Trial) -> str:
    """Return the state of a trial in a sentence."""
    cause = "" if found.cause is None else f" ({found.cause.replace('_', ' ')})"
    tried = many(len(found.attempts), "attempt")
    if found.value is not None:
        return f"Its value is {short(found.value)}, after {tried}{cause}."
    return f"It has no value, after {tried}{cause}."


def _proposed(found: Trial) -> str:
    """Return why this config is tried, in a sentence."""
    if found.reasons:
        return Reasons.from_json(found.reasons).explain()
    return {
        Origin.IMPORTED: "A person added it with its result.",
        Origin.ENQUEUED: "A person added it to be tried.",
    }.get(found.origin, "Nothing is recorded.")


def _attempt(attempt: Attempt, now: datetime) -> AttemptLine:
    return AttemptLine(
        number=attempt.number,
        outcome=attempt.outcome or "running",
        where=f"{attempt.worker}, {attempt.device}",
        took=span((attempt.ended_at or now) - attempt.started_at),
        message=attempt.message or "",
        traceback=attempt.traceback or "",
        log_tail=attempt.log_tail or "",
    )


def _line(progress: Progress) -> StudyLine:
    study, counts = progress.study, progress.counts
    standing = study.standing
    return StudyLine(
        name=study.spec.name,
        task=study.spec.task,
        strategy=in_words(study.spec.strategy, KNOWN),
        state=standing.state.value,
        reason=standing.reason,
        finished=sum(counts[state] for state in ENDS),
        wanted=_wanted(progress.study),
        running=counts[TrialState.RUNNING],
        parts=_parts(progress),
        eta=progress.eta,
        waits_for=progress.waits_for,
        best=_best(progress),
    )


def _wanted(study: Study) -> int:
    """Return how many trials there will be; of a mirror that nobody knows, and it is those there are."""
    standing = study.standing
    if study.mirrors is not None:
        return standing.trials
    return max(standing.max_trials + standing.imported, standing.trials)


def _parts(progress: Progress) -> list[Part]:
    """Return the states that trials are in, those that have ended first."""
    counts, wanted = progress.counts, _wanted(progress.study)
    there = [state for state in (*ENDS, TrialState.RUNNING, TrialState.QUEUED) if counts[state]]
    widths = [round(100 * counts[state] / wanted, 3) for state in there]
    begins = accumulate(widths, initial=0.0)
    return [
        Part(state.value, counts[state], round(begin, 3), width)
        for state, width, begin in zip(there, widths, begins, strict=False)
    ]


def _best(progress: Progress) -> Best | None:
    ranked: Ranked | None = progress.best
    if ranked is None:
        return None
    config = shown(progress.space.dimensions, ranked.config)
    return Best(ranked.number, short(ranked.value), str(ranked.value), config)
