"""The trials of a study as a table: filtered, sorted, with columns to choose and rows to choose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

import numpy as np

from app.dashboard.summaries import filters
from app.dashboard.summaries.why import why
from app.dashboard.values import MANY_DIMENSIONS, brief
from app.domain.errors import InvalidRequest
from app.domain.listing import Listing, Sort
from app.domain.study import Direction, Progress
from app.domain.trial import TrialLine, TrialState
from app.lifecycle import browse
from app.storage import Transaction, attempts
from app.storage.attempts import Latest
from thiessen.figures.scale import Scale
from thiessen.figures.text import short

MOST_TRIALS: Final = 25  # in a page of the table
MOST_CHOSEN: Final = 20  # that are kept in an address, and compared


@dataclass(frozen=True)
class Asked:
    """What an address says of the table."""

    line: str = ""  # the filter
    sort: str | None = None
    cursor: str | None = None
    columns: Sequence[str] = ()  # dimensions; the first ones when none is named
    chosen: Sequence[int] = ()

    def query(self, **changed: object) -> str:
        """Return the part of an address that says it, with some of it changed and on the first page."""
        parts = {
            "filter": self.line or None,
            "sort": self.sort,
            "cursor": None,
            "column": list(self.columns),
            "trials": ",".join(map(str, self.chosen)) or None,
        } | changed
        return urlencode([(name, one) for name, said in parts.items() for one in _each(said)])


@dataclass(frozen=True)
class Swatch:
    """The colour of a loss in either theme."""

    light: str
    dark: str


@dataclass(frozen=True)
class Row:
    """One trial in a table."""

    number: int
    state: str
    value: str
    exact: str
    swatch: Swatch | None
    config: list[tuple[str, str]]  # name and value, in the order of the columns
    finished_at: datetime | None
    why: str
    is_chosen: bool


@dataclass(frozen=True)
class Heading:
    """A column that the table may be sorted by."""

    title: str
    query: str | None  # what sorts by it, or turns that round; None where the filter does not let
    order: str | None  # as aria-sort says it


@dataclass(frozen=True)
class Table:
    """A page of the trials of a study."""

    asked: Asked
    dimensions: list[str]
    columns: list[str]
    headings: dict[str, Heading]
    rows: list[Row] = field(default_factory=list)
    elsewhere: list[int] = field(default_factory=list)  # chosen ones on other pages
    next: str | None = None
    is_first: bool = True
    is_newest: bool = False  # whether a new trial comes first
    wrong: str | None = None
    most_chosen: int = MOST_CHOSEN
    hint: str = filters.HINT


@dataclass(frozen=True)
class Found:
    """What the database has for a page of the table."""

    listing: Listing
    lines: Sequence[TrialLine] = ()
    latest: Mapping[int, Latest] = field(default_factory=dict)
    following: str | None = None
    wrong: str | None = None


def find(tx: Transaction, progress: Progress, asked: Asked, limit: int = MOST_TRIALS) -> Found:
    """Return a page of the trials, or what is wrong with what was asked for."""
    study = progress.study
    try:
        wanted = filters.listing(asked.line, asked.sort, progress.space.dimensions, study.spec.direction)
        name = study.spec.name
        lines, following = browse.page(tx, study.project, name, wanted, cursor=asked.cursor, limit=limit)
    except InvalidRequest as refusal:
        return Found(Listing(), wrong=str(refusal))
    latest = attempts.latest_of(tx, study.id, [line.number for line in lines])
    return Found(wanted, lines, latest, following)


def table(progress: Progress, asked: Asked, found: Found, scale: Scale | None) -> Table:
    """Return a page of the table."""
    dimensions = list(progress.space.dimensions)
    columns = [name for name in dimensions if name in asked.columns] or dimensions[:MANY_DIMENSIONS]
    here = {line.number for line in found.lines}
    return Table(
        asked=asked,
        dimensions=dimensions,
        columns=columns,
        headings=_headings(asked, found.listing, progress.study.spec.direction),
        rows=rows(progress, found.lines, found.latest, columns, scale, asked.chosen),
        elsewhere=[number for number in asked.chosen if number not in here],
        next=asked.query(cursor=found.following) if found.following else None,
        is_first=asked.cursor is None,
        is_newest=asked.cursor is None and found.listing.sort is Sort.NUMBER_DOWN,
        wrong=found.wrong,
    )


def rows(
    progress: Progress,
    lines: Iterable[TrialLine],
    latest: Mapping[int, Latest],
    columns: Sequence[str],
    scale: Scale | None,
    chosen: Sequence[int] = (),
) -> list[Row]:
    """Return trials as rows of a table."""
    study = progress.study
    return [
        Row(
            number=line.number,
            state=line.state,
            value=short(line.value),
            exact="" if line.value is None else str(line.value),
            swatch=swatch(line.state, line.loss, scale),
            config=[(name, brief(line.config[name]) if name in line.config else "") for name in columns],
            finished_at=line.finished_at,
            why=why(line, latest.get(line.number), study.spec, progress.waits_for),
            is_chosen=line.number in chosen,
        )
        for line in lines
    ]


def swatch(state: TrialState, loss: float | None, scale: Scale | None) -> Swatch | None:
    """Return the colour that the figures have for the loss of a trial, None where they have none."""
    if scale is None or loss is None or state is not TrialState.SUCCEEDED:
        return None
    place = float(scale.places(np.array([loss]))[0])
    return Swatch(scale.colour("light", place), scale.colour("dark", place))


def _headings(asked: Asked, listing: Listing, direction: Direction) -> dict[str, Heading]:
    is_bounded = listing.above is not None or listing.below is not None
    titles = {Sort.NUMBER: "trial", Sort.LOSS: "value", Sort.FINISHED: "finished"}
    found = {}
    for sort, title in titles.items():
        is_sorted = listing.sort.upward is sort
        turned = Sort(sort.value if is_sorted and listing.sort.is_descending else f"-{sort.value}")
        if sort is Sort.LOSS and not is_sorted:
            turned = sort  # the best first
        is_open = is_sorted or not is_bounded
        if sort is Sort.LOSS and listing.state not in {None, TrialState.SUCCEEDED}:
            is_open = False
        falls = listing.sort.is_descending != (sort is Sort.LOSS and direction is Direction.MAXIMIZE)
        order = ("descending" if falls else "ascending") if is_sorted else None
        found[title] = Heading(title, asked.query(sort=turned.value) if is_open else None, order)
    return found


def _each(said: object) -> Iterable[object]:
    if said is None:
        return []
    return said if isinstance(said, list) else [said]
