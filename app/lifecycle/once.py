"""A request that is repeated with its Idempotency-Key happens once, and is answered the same again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from app.domain.access import Principal
from app.domain.errors import IdempotencyKeyReused
from app.domain.reply import Key, Reply
from app.storage import Transaction, replies

KEPT_FOR: Final = timedelta(hours=24)


def once(tx: Transaction, who: Principal, key: Key | None, step: Callable[[Transaction], Reply]) -> Reply:
    """Take a step and keep its reply in the same transaction; a key that was used gives the reply kept.

    A step that raises leaves its key free. Never for a step whose reply holds a secret. Raises
    IdempotencyKeyReused.
    """
    if key is None:
        return step(tx)
    if replies.begin(tx, who.name, key):
        reply = step(tx)
        replies.finish(tx, who.name, key, reply)
        return reply
    request, kept = replies.kept(tx, who.name, key)
    if request != key.request:
        raise IdempotencyKeyReused(key.text)
    return kept


def forget(tx: Transaction) -> int:
    """Remove the replies that were kept for long enough; return how many."""
    return replies.forget(tx, older_than=KEPT_FOR)
