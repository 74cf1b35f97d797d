"""Webhooks over HTTP: each change is one step."""

from functools import partial
from http import HTTPStatus
from secrets import token_hex
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query

from app import wire
from app.api.problems import documented
from app.domain.webhook import Webhook
from app.gate import ServerAdmin
from app.house import TheHouse
from app.lifecycle.destination import addresses
from app.storage import Transaction, audit, webhooks
from thiessen import contract

SECRET_BYTES: Final = 32
DONE: Final = {"active": "resumed", "paused": "paused"}
ABSENT = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookId = Annotated[int, Path(ge=1, lt=2**31, description="The webhook's number.")]
After = Annotated[int, Query(ge=0, lt=2**31, description="Only webhooks after this number.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]


@router.post("", status_code=HTTPStatus.CREATED, responses=ABSENT)
async def create_webhook(
    sent: contract.WebhookSpec, house: TheHouse, who: ServerAdmin
) -> contract.NewWebhook:
    """Tell an address of what happens from now on. The answer holds the secret that signs, only this once."""
    await addresses(sent.url, allow_private=house.allow_private_webhooks)
    secret = token_hex(SECRET_BYTES)
    asked = wire.subscription(sent)

    def step(tx: Transaction) -> Webhook:
        made = webhooks.add(tx, subscription=asked, secret=secret, who=who.name)
        audit.append(tx, who.name, "webhook.created", str(made.id), {"host": urlsplit(sent.url).hostname})
        return made

    return wire.new_webhook(await house.store.written(step), secret)


@router.get("", responses=documented(HTTPStatus.UNPROCESSABLE_ENTITY))
async def list_webhooks(
    house: TheHouse, who: ServerAdmin, after: After = 0, limit: Limit = 100
) -> contract.WebhookPage:
    """List the webhooks, oldest first."""
    del who
    found = await house.store.seen(partial(webhooks.page, after=after, limit=limit))
    return contract.WebhookPage(
        webhooks=[wire.webhook(each) for each in found], next=found[-1].id if found else after
    )


@router.get("/{webhook_id}", responses=ABSENT)
async def read_webhook(webhook_id: WebhookId, house: TheHouse, who: ServerAdmin) -> contract.Webhook:
    """Return a webhook: whether it is told, what went wrong last, how far it is behind."""
    del who
    step = partial(webhooks.numbered, webhook_id=webhook_id)
    return wire.webhook(await house.store.seen(step))


@router.patch("/{webhook_id}", responses=ABSENT)
async def change_webhook(
    webhook_id: WebhookId, sent: contract.WebhookChange, house: TheHouse, who: ServerAdmin
) -> contract.Webhook:
    """Pause a webhook, or resume it: then it is told at once of what it has missed."""
    verb = webhooks.resume if sent.state == "active" else webhooks.pause

    def step(tx: Transaction) -> Webhook:
        changed = verb(tx, webhook_id=webhook_id)
        audit.append(tx, who.name, f"webhook.{DONE[sent.state]}", str(webhook_id))
        return changed

    return wire.webhook(await house.store.written(step))


@router.delete("/{webhook_id}", status_code=HTTPStatus.NO_CONTENT, responses=ABSENT)
async def delete_webhook(webhook_id: WebhookId, house: TheHouse, who: ServerAdmin) -> None:
    """Remove a webhook."""

    def step(tx: Transaction) -> None:
        webhooks.remove(tx, webhook_id=webhook_id)
        audit.append(tx, who.name, "webhook.removed", str(webhook_id))

    await house.store.written(step)
