"""The line that filters a table of trials: what the indexes of the database answer, and nothing else."""

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Final, TypeVar

from app.domain.errors import InvalidRequest
from app.domain.listing import Listing, Sort
from app.domain.study import Direction
from app.domain.trial import Origin, TrialState

HINT: Final = "state:failed  origin:enqueued  value<0.1  number>100  37"
ALL: Final = "Trials are filtered by state:, origin:, value< or >, and number< or >, or one number."
MOST_NUMBER: Final = 2**31 - 2  # of a trial, so that the next one is a number of the databases too

Word = TypeVar("Word", bound=StrEnum)
_BOUND: Final = re.compile("([^<>]+)([<>])(.*)")


def listing(line: str, sort: str | None, dimensions: Collection[str], direction: Direction) -> Listing:
    """Return the list of trials that a line and an order ask for. Raises InvalidRequest."""
    found = Listing(sort=_sort(sort))
    for term in line.split():
        found = _narrowed(found, term, dimensions, direction)
    if found.sort.upward is Sort.LOSS and found.state not in {None, TrialState.SUCCEEDED}:
        if found.above is not None or found.below is not None:
            raise InvalidRequest(
                f"Only succeeded trials have a final value to compare, not {found.state} ones."
            )
        return replace(found, sort=Sort.NUMBER_DOWN)
    return found


def _sort(said: str | None) -> Sort:
    if said is None:
        return Sort.NUMBER_DOWN
    if said not in list(Sort):
        raise InvalidRequest(f"Trials are not sorted by {said!r}, but by {', '.join(Sort)}.")
    return Sort(said)


def _narrowed(found: Listing, term: str, dimensions: Collection[str], direction: Direction) -> Listing:
    if re.fullmatch("#?[0-9]{1,10}", term):
        number = _whole(term.removeprefix("#"))
        return _between(_between(found, Sort.NUMBER_DOWN, number - 1, ">"), Sort.NUMBER_DOWN, number + 1, "<")
    name, colon, said = term.partition(":")
    if colon and name == "state":
        return replace(found, state=_one(TrialState, said, "state"))
    if colon and name == "origin":
        return replace(found, origin=_one(Origin, said, "origin"))
    bound = _BOUND.fullmatch(term)
    if bound is None:
        raise InvalidRequest(f"“{term}” is no filter. {ALL}")
    name, sign, said = bound.groups()
    if name == "number":
        return _between(found, Sort.NUMBER_DOWN, _whole(said), sign)
    if name == "value":
        if direction is Direction.MAXIMIZE:
            sign = "<" if sign == ">" else ">"
        return _between(found, Sort.LOSS, direction.loss(_finite(said)), sign)
    if name in dimensions:
        raise InvalidRequest(
            f"“{term}” would read the whole study: trials are not kept in the order of a dimension. {ALL} "
            "The export has every trial with its config."
        )
    raise InvalidRequest(f"“{name}” is nothing that trials are filtered by. {ALL}")


def _between(found: Listing, sort: Sort, bound: float, sign: str) -> Listing:
    """Return a list with one more bound on what it is then sorted by."""
    if found.sort.upward is not sort.upward:
        if found.above is not None or found.below is not None:
            raise InvalidRequest(
                "A list has bounds on values or on numbers, not on both. Leave out one of them."
            )
        found = replace(found, sort=sort)
    if sign == ">":
        return replace(found, above=bound if found.above is None else max(found.above, bound))
    return replace(found, below=bound if found.below is None else min(found.below, bound))


def _one(words: type[Word], said: str, what: str) -> Word:
    if said in list(words):
        return words(said)
    near = get_close_matches(said, list(words), n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise InvalidRequest(f"“{said}” is no {what}; there are {_listed(words)}.{meant}")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def _whole(said: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", said) or int(said) > MOST_NUMBER:
        raise InvalidRequest(f"“{said}” is no number of a trial.")
    return int(said)


def _finite(said: str) -> float:
    try:
        number = float(said)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidRequest(f"“{said}” is no number to compare values with.")
    return number
