"""Tokens: make one, list them, revoke one, and tell who somebody is by it."""

from collections.abc import Collection
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final

from app.domain.access import RESERVED, Deed, Principal, Scope, Token
from app.domain.errors import InvalidRequest, TokenExists
from app.storage import Transaction, audit, projects, tokens

PREFIX: Final = "thiessen_"  # so that people and scanners know a leaked one when they see it
SECRET_BYTES: Final = 32


def create(
    tx: Transaction,
    who: Principal,
    *,
    name: str,
    scopes: Collection[Scope],
    project: str | None = None,
    valid_for: timedelta | None = None,
) -> tuple[Token, str]:
    """Make a token; return it with its secret, which nobody can be told again.

    Raises InvalidRequest, ProjectNotFound, TokenExists.
    """
    if name in RESERVED:
        raise InvalidRequest(
            f"A token cannot be named {name!r}: that name is the server's own. Choose another."
        )
    secret = PREFIX + token_urlsafe(SECRET_BYTES)
    token = tokens.add(
        tx,
        name=name,
        digest=digest(secret),
        scopes=scopes,
        project_id=None if project is None else projects.named(tx, project).id,
        valid_for=valid_for,
        created_by=who.name,
    )
    if token is None:
        raise TokenExists(name)
    expires_at = None if token.expires_at is None else token.expires_at.isoformat()
    told = {"scopes": sorted(token.scopes), "project": project, "expires_at": expires_at}
    audit.append(tx, who.name, "token.created", f"token {name}", told)
    return token, secret


def revoke(tx: Transaction, who: Principal, name: str) -> None:
    """Make a token worthless; again is harmless. Raises TokenNotFound."""
    tokens.named(tx, name)
    if tokens.revoke(tx, name):
        audit.append(tx, who.name, "token.revoked", f"token {name}")


def every(tx: Transaction, *, after: int, limit: int) -> list[Token]:
    """Return the tokens made after one, revoked and expired ones too."""
    return tokens.every(tx, after=after, limit=limit)


def deeds(tx: Transaction, *, before: int | None, limit: int) -> list[Deed]:
    """Return the last lines of the audit, the newest first."""
    return audit.newest(tx, before=before, limit=limit)


def anybody(tx: Transaction) -> bool:
    """Return whether there is a token that lets somebody in."""
    return tokens.any_valid(tx)


def who(tx: Transaction, sought: str) -> Principal | None:
    """Return whose token has this digest; None when nobody's, or no longer."""
    found = tokens.valid(tx, sought)
    if found is None or not compare_digest(found[1], sought):
        return None
    token = found[0]
    return Principal(token.name, token.scopes, token.project)


def digest(secret: str) -> str:
    """Return what is stored of a token. It has 256 random bits, so one round of SHA-256 keeps it."""
    return sha256(secret.encode()).hexdigest()
