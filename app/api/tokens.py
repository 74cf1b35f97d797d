"""Tokens and the audit over HTTP. No Idempotency-Key: a reply with a secret in it is never kept."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.api.paging import Cursor, following
from app.api.paths import Limit
from app.api.problems import documented
from app.domain.access import Scope, Token
from app.gate import ServerAdmin
from app.house import TheHouse
from app.lifecycle import access
from thiessen import contract
from thiessen.contract.words import Name

router = APIRouter(tags=["access"])

TokenName = Annotated[Name, Path(description="The token's name.")]


@router.post(
    "/tokens",
    status_code=HTTPStatus.CREATED,
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY),
)
async def create_token(
    sent: contract.TokenRequest, house: TheHouse, who: ServerAdmin, response: Response
) -> contract.NewToken:
    """Make a token. Its secret is in this answer and nowhere else."""
    token, secret = await house.store.written(
        lambda tx: access.create(
            tx,
            who,
            name=sent.name,
            scopes={Scope(scope) for scope in sent.scopes},
            project=sent.project,
            valid_for=None if sent.days is None else timedelta(days=sent.days),
        ),
    )
    response.headers["Cache-Control"] = "no-store"
    return contract.NewToken(**_wire(token).model_dump(), token=secret)


@router.get("/tokens", responses=documented(HTTPStatus.UNPROCESSABLE_ENTITY))
async def list_tokens(
    house: TheHouse, _: ServerAdmin, cursor: Cursor = None, limit: Limit = 100
) -> contract.Tokens:
    """List the tokens, revoked and expired ones too, without their secrets."""
    page = await house.store.seen(lambda tx: access.every(tx, after=int(cursor or 0), limit=limit))
    return contract.Tokens(tokens=[_wire(token) for token in page], next=following(page, limit))


@router.delete(
    "/tokens/{name}",
    status_code=HTTPStatus.NO_CONTENT,
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
async def revoke_token(name: TokenName, house: TheHouse, who: ServerAdmin) -> None:
    """Make a token worthless, on every server within two seconds. Its name stays taken."""
    await house.store.written(lambda tx: access.revoke(tx, who, name))


@router.get("/audit", responses=documented(HTTPStatus.UNPROCESSABLE_ENTITY))
async def list_audit(
    house: TheHouse, _: ServerAdmin, cursor: Cursor = None, limit: Limit = 100
) -> contract.Audit:
    """List what was done to tokens, projects and webhooks, the newest first; studies have their events."""
    before = None if cursor is None else int(cursor)
    page = await house.store.seen(lambda tx: access.deeds(tx, before=before, limit=limit))
    return contract.Audit(audit=[contract.Deed(**vars(deed)) for deed in page], next=following(page, limit))


def _wire(token: Token) -> contract.Token:
    return contract.Token(**vars(token) | {"scopes": sorted(token.scopes)})
