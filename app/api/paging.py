"""Lists come in pages: the cursor is the id of the last line of the page before."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import Query

Cursor = Annotated[int | None, Query(ge=0, lt=2**63, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many to list.")]


class Numbered(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> int: ...


def following(page: Sequence[Numbered], limit: int) -> int | None:
    """Return the cursor of the next page; None when this one was not full."""
    return page[-1].id if len(page) == limit else None
