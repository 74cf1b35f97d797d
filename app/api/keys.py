"""The Idempotency-Key of a request."""

from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header, Request
from pydantic import Field

from app.domain.reply import Key
from thiessen.contract.words import NeverNull

Text = Annotated[
    Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")] | None,
    NeverNull(),
    Header(
        alias="Idempotency-Key",
        description="Sent again with the same request: the same answer, and nothing happens twice.",
    ),
]


async def _key(request: Request, text: Text = None) -> Key | None:
    if text is None:
        return None
    asked = f"{request.method} {request.url.path}\n".encode() + await request.body()
    return Key(text, sha256(asked).hexdigest())


TheKey = Annotated[Key | None, Depends(_key)]
"""A creating route that asks for it gets the key, or None."""
