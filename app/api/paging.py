"""Lists come in pages: the cursor is the id of the last line of the page before."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import Query
from pydantic import Field

from thiessen.contract.words import NeverNull

Cursor = Annotated[
    Annotated[str, Field(pattern=r"^[0-9]{1,18}$")] | None,
    NeverNull(),
    Query(description="`next` of the page before."),
]


class Numbered(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> int: ...


def following(page: Sequence[Numbered], limit: int) -> str | None:
    """Return the cursor of the next page; None when this one was not full."""
    return str(page[-1].id) if len(page) == limit else None
