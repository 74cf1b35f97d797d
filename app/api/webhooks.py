"""Webhooks over HTTP: each change is one step."""

import asyncio
from functools import partial
from http import HTTPStatus
from secrets import token_hex
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Response

from app.api import wire
from app.api.problems import documented
from app.house import TheHouse
from app.lifecycle.destination import addresses
from app.storage import webhooks
from thiessen import contract

ANONYMOUS: Final = "anonymous"  # requests carry no token yet
SECRET_BYTES: Final = 32
ABSENT = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookId = Annotated[int, Path(ge=1, lt=2**31, description="The webhook's number.")]
After = Annotated[int, Query(ge=0, lt=2**31, description="Only webhooks after this number.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]


@router.post("", status_code=HTTPStatus.CREATED, responses=ABSENT)
async def create_webhook(
    sent: contract.WebhookSpec, house: TheHouse, response: Response
) -> contract.NewWebhook:
    """Tell an address of what happens from now on. The answer holds the secret that signs, only this once."""
    await addresses(sent.url, allow_private=house.allow_private_webhooks)
    secret = token_hex(SECRET_BYTES)
    step = partial(webhooks.add, subscription=wire.subscription(sent), secret=secret, who=ANONYMOUS)
    response.headers["Cache-Control"] = "no-store"
    return wire.new_webhook(await asyncio.to_thread(house.store.write, step), secret)


@router.get("", responses=documented(HTTPStatus.UNPROCESSABLE_ENTITY))
async def list_webhooks(house: TheHouse, after: After = 0, limit: Limit = 100) -> contract.WebhookPage:
    """List the webhooks, oldest first."""
    found = await asyncio.to_thread(house.store.read, partial(webhooks.page, after=after, limit=limit))
    return contract.WebhookPage(
        webhooks=[wire.webhook(each) for each in found], next=found[-1].id if found else after
    )


@router.get("/{webhook_id}", responses=ABSENT)
async def read_webhook(webhook_id: WebhookId, house: TheHouse) -> contract.Webhook:
    """Return a webhook: whether it is told, what went wrong last, how far it is behind."""
    step = partial(webhooks.numbered, webhook_id=webhook_id)
    return wire.webhook(await asyncio.to_thread(house.store.read, step))


@router.patch("/{webhook_id}", responses=ABSENT)
async def change_webhook(
    webhook_id: WebhookId, sent: contract.WebhookChange, house: TheHouse
) -> contract.Webhook:
    """Pause a webhook, or resume it: then it is told at once of what it has missed."""
    verb = webhooks.resume if sent.state == "active" else webhooks.pause
    changed = await asyncio.to_thread(house.store.write, partial(verb, webhook_id=webhook_id))
    return wire.webhook(changed)


@router.delete("/{webhook_id}", status_code=HTTPStatus.NO_CONTENT, responses=ABSENT)
async def delete_webhook(webhook_id: WebhookId, house: TheHouse) -> None:
    """Remove a webhook."""
    await asyncio.to_thread(house.store.write, partial(webhooks.remove, webhook_id=webhook_id))
