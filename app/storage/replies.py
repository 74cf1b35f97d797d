"""Replies to requests that carried an Idempotency-Key."""

from datetime import timedelta

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.reply import Key, Reply
from app.storage.store import Transaction
from app.storage.tables import later, now, replies


def begin(tx: Transaction, who: str, key: Key) -> bool:
    """Take a key; False if it is taken. While another transaction holds it, wait for how that ends."""
    statement = insert(replies).values(
        who=who, idempotency_key=key.text, request=key.request, status=0, body="", created_at=now()
    )
    try:
        with tx.begin_nested():
            tx.execute(statement)
    except IntegrityError:
        return False
    return True


def finish(tx: Transaction, who: str, key: Key, reply: Reply) -> None:
    """Keep the reply of a key taken in this transaction."""
    tx.execute(
        update(replies)
        .where(replies.c.who == who, replies.c.idempotency_key == key.text)
        .values(status=reply.status, body=reply.body)
    )


def kept(tx: Transaction, who: str, key: Key) -> tuple[str, Reply]:
    """Return the digest of the request that took a key, and its reply."""
    statement = select(replies).where(replies.c.who == who, replies.c.idempotency_key == key.text)
    row = tx.execute(statement).one()
    return row.request, Reply(status=row.status, body=row.body)


def forget(tx: Transaction, older_than: timedelta) -> int:
    """Remove old replies; return how many."""
    return tx.execute(delete(replies).where(replies.c.created_at < later(-older_than))).rowcount
