"""The trials of a study in pages. A cursor says of which list it is, and behind which trial it goes on."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from typing import Any, Final

from app.domain.errors import InvalidRequest
from app.domain.listing import Listing, Sort
from app.domain.study import Study
from app.domain.trial import TrialLine, TrialState
from app.storage import Transaction, pages, studies
from app.storage.pages import Key

SEAL_DIGITS: Final = 16


def page(
    tx: Transaction, project: str, name: str, listing: Listing, *, cursor: str | None, limit: int
) -> tuple[Sequence[TrialLine], str | None]:
    """Return a page of trials and the cursor of the next; None at the end.

    Raises StudyNotFound, InvalidRequest.
    """
    if listing.sort.upward is Sort.LOSS and listing.state not in {None, TrialState.SUCCEEDED}:
        raise InvalidRequest(
            f"sort: only succeeded trials have a final loss to go by, not {listing.state} ones. "
            "Leave out the state, or sort by number or finished."
        )
    is_bounded = listing.above is not None or listing.below is not None
    if listing.sort.upward is Sort.FINISHED and is_bounded:
        raise InvalidRequest("sort: a list between bounds goes by number or by loss, not by time.")
    study = studies.named(tx, project, name)
    after = None if cursor is None else _opened(study, listing, cursor)
    found = pages.page(tx, study, listing, after, limit + 1)
    if len(found) <= limit:
        return found, None
    return found[:limit], _closed(study, listing, pages.key(listing, found[limit - 1]))


def _closed(study: Study, listing: Listing, key: Key) -> str:
    plain = [_milliseconds(part) if isinstance(part, datetime) else part for part in key]
    return urlsafe_b64encode(json.dumps([*plain, _seal(study, listing, plain)]).encode()).decode()


def _opened(study: Study, listing: Listing, cursor: str) -> Key:
    try:
        *plain, seal = json.loads(urlsafe_b64decode(cursor))
    except (ValueError, TypeError):
        raise _unknown() from None
    if not all(map(_is_number, plain)) or seal != _seal(study, listing, plain):
        raise _unknown()
    if listing.sort.upward is Sort.FINISHED:
        plain[0] = datetime.fromtimestamp(plain[0] / 1000, UTC)
    return tuple(plain)


def _seal(study: Study, listing: Listing, plain: list[Any]) -> str:
    """Return what only a cursor of this list has: a mistake is noticed, not an intention."""
    text = json.dumps([study.id, *astuple(listing), plain])
    return sha256(text.encode()).hexdigest()[:SEAL_DIGITS]


def _is_number(part: Any) -> bool:
    return isfinite(part) if type(part) is float else type(part) is int and abs(part) < 2**53


def _milliseconds(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def _unknown() -> InvalidRequest:
    return InvalidRequest(
        "cursor: it is broken, or of a list with another study, sort or filter. "
        "Leave it out to begin with the first page."
    )
