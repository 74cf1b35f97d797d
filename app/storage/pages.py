"""Pages of the trials of a study. Each begins behind a key: the last one costs no more than the first."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, select, text, tuple_, union_all

from app.domain.listing import Listing, Sort
from app.domain.study import Study
from app.domain.trial import Cause, Origin, TrialLine, TrialState
from app.storage.store import Transaction
from app.storage.tables import trials

Key = tuple[float | datetime, int] | tuple[int]
"""Where a trial stands in a list: its loss or when it finished, and its number."""

_COLUMNS: Final = {
    Sort.NUMBER: ("number",),
    Sort.LOSS: ("loss", "number"),
    Sort.FINISHED: ("finished_at", "number"),
}
_LINE: Final = [
    trials.c[name]
    for name in (
        "number", "state", "origin", "cause", "loss", "config", "seed", "attempts", "created_at",
        "finished_at",
    )
]  # fmt: skip
_OF_PEOPLE: Final = text("origin <> 'proposed'")  # as the index says it, which serves no other words
_ENDED: Final = [state for state in TrialState if state.is_terminal]


def page(tx: Transaction, study: Study, listing: Listing, after: Key | None, limit: int) -> list[TrialLine]:
    """Return the trials of a list that come after a key."""
    parts = [_part(study, listing, state, after) for state in _states(listing)]
    if len(parts) == 1:
        statement = _first(parts[0], listing, limit)
    else:  # each of the parts comes out of an index in order, and only their beginnings are sorted
        firsts = [select(_first(part, listing, limit).subquery()) for part in parts]
        statement = _first(select(union_all(*firsts).subquery()), listing, limit)
    return [_line(study, row) for row in tx.execute(statement)]


def numbered(tx: Transaction, study: Study, numbers: Collection[int]) -> list[TrialLine]:
    """Return those of these trials that there are, by number."""
    statement = select(*_LINE).where(trials.c.study_id == study.id, trials.c.number.in_(sorted(numbers)))
    return [_line(study, row) for row in tx.execute(statement.order_by(trials.c.number))]


def key(listing: Listing, line: TrialLine) -> Key:
    """Return where a trial stands in a list."""
    match listing.sort.upward:
        case Sort.LOSS if line.loss is not None:
            return line.loss, line.number
        case Sort.FINISHED if line.finished_at is not None:
            return line.finished_at, line.number
        case _:
            return (line.number,)


def _states(listing: Listing) -> Sequence[TrialState | None]:
    """Return the states whose trials are merged: an index has those of one state in order."""
    if listing.sort.upward is Sort.LOSS:
        return [TrialState.SUCCEEDED]
    if listing.sort.upward is Sort.FINISHED and listing.state is None:
        return _ENDED
    return [listing.state]


def _first(statement: Select[Any], listing: Listing, limit: int) -> Select[Any]:
    order = [statement.selected_columns[name] for name in _COLUMNS[listing.sort.upward]]
    if listing.sort.is_descending:
        order = [column.desc() for column in order]
    return statement.order_by(*order).limit(limit)


def _part(study: Study, listing: Listing, state: TrialState | None, after: Key | None) -> Select[Any]:
    statement = select(*_LINE).where(trials.c.study_id == study.id)
    if state is not None:
        statement = statement.where(trials.c.state == state)
    if listing.sort.upward is Sort.FINISHED:
        statement = statement.where(trials.c.finished_at.is_not(None))
    if listing.origin is not None:
        statement = statement.where(trials.c.origin == listing.origin)
    if listing.origin not in {None, Origin.PROPOSED}:
        statement = statement.where(_OF_PEOPLE)
    place = trials.c[_COLUMNS[listing.sort.upward][0]]
    if listing.above is not None:
        statement = statement.where(place > listing.above)
    if listing.below is not None:
        statement = statement.where(place < listing.below)
    return statement if after is None else statement.where(_behind(listing.sort, after))


def _behind(sort: Sort, after: Key) -> ColumnElement[bool]:
    columns = [trials.c[name] for name in _COLUMNS[sort.upward]]
    if len(columns) == 1:
        return columns[0] < after[0] if sort.is_descending else columns[0] > after[0]
    place, last = tuple_(*columns), tuple_(*after, types=[column.type for column in columns])
    return place < last if sort.is_descending else place > last


def _line(study: Study, row: Any) -> TrialLine:
    return TrialLine(
        number=row.number,
        state=TrialState(row.state),
        origin=Origin(row.origin),
        cause=None if row.cause is None else Cause(row.cause),
        loss=row.loss,
        value=None if row.loss is None else study.spec.direction.loss(row.loss),
        config=row.config,
        seed=row.seed,
        attempts=row.attempts,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
