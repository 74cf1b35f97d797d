"""Tokens: their digests, never the tokens themselves."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.access import Scope, Token
from app.domain.errors import TokenNotFound
from app.storage.store import Transaction
from app.storage.tables import later, now, projects, tokens


def add(
    tx: Transaction,
    *,
    name: str,
    digest: str,
    scopes: Collection[Scope],
    project_id: int | None,
    valid_for: timedelta | None,
    created_by: str,
) -> Token | None:
    """Store a new token; None when its name is taken."""
    statement = insert(tokens).values(
        name=name,
        digest=digest,
        scopes=sorted(scopes),
        project_id=project_id,
        created_at=now(),
        created_by=created_by,
        expires_at=None if valid_for is None else later(valid_for),
    )
    try:
        with tx.begin_nested():
            tx.execute(statement)
    except IntegrityError:
        return None
    return named(tx, name)


def named(tx: Transaction, name: str) -> Token:
    """Return a token. Raises TokenNotFound."""
    row = tx.execute(_with_projects().where(tokens.c.name == name)).one_or_none()
    if row is None:
        raise TokenNotFound(name)
    return _token(row)


def valid(tx: Transaction, digest: str) -> tuple[Token, str] | None:
    """Return the token of a digest, with the digest that is stored, unless it has expired or was revoked."""
    row = tx.execute(_with_projects().where(tokens.c.digest == digest, *_is_valid())).one_or_none()
    return None if row is None else (_token(row), row.digest)


def is_valid(tx: Transaction, name: str) -> bool:
    """Return whether there is a token of this name that lets its owner in."""
    return tx.execute(select(exists().where(tokens.c.name == name, *_is_valid()))).scalar_one()


def any_valid(tx: Transaction) -> bool:
    """Return whether anybody could be let in by a token."""
    return tx.execute(select(exists().where(*_is_valid()))).scalar_one()


def every(tx: Transaction, *, after: int, limit: int) -> list[Token]:
    """Return the tokens whose id is above `after`, in order of creation."""
    statement = _with_projects().where(tokens.c.id > after).order_by(tokens.c.id).limit(limit)
    return [_token(row) for row in tx.execute(statement)]


def revoke(tx: Transaction, name: str) -> bool:
    """Make a token worthless; False if it was so before."""
    statement = (
        update(tokens).where(tokens.c.name == name, tokens.c.revoked_at.is_(None)).values(revoked_at=now())
    )
    return tx.execute(statement).rowcount == 1


def _with_projects() -> Any:
    return select(tokens, projects.c.name.label("project")).join_from(tokens, projects, isouter=True)


def _is_valid() -> tuple[Any, Any]:
    return tokens.c.revoked_at.is_(None), or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now())


def _token(row: Row[Any]) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        scopes=frozenset(Scope(scope) for scope in row.scopes),
        project=row.project,
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
