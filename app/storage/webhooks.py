"""Webhooks, and how far each has been told of each study.

A webhook's `due_at` is also its lease: whoever moves it ahead may send, and what came of it counts only
while the row still says so. A process that dies while sending is followed by the next one after that time.
"""

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, case, delete, func, insert, literal, or_, select, update

from app.domain.errors import ProjectNotFound, WebhookNotFound
from app.domain.study import StudyId
from app.domain.webhook import MOST_FAILURES, Delivery, Subscription, Webhook
from app.storage.feed import event
from app.storage.store import Transaction
from app.storage.tables import events, later, now, projects, studies, webhook_cursors, webhooks

SENDING_FOR: Final = timedelta(seconds=30)
LINGER: Final = timedelta(seconds=1)  # events of a busy study gather so long, then travel together
MOST_EVENTS: Final = 100  # of one delivery
MOST_STUDIES: Final = 100  # looked through at once for one with events that the webhook wants

_HEARD: Final = func.coalesce(webhook_cursors.c.seq, 0)
_TOLD: Final = case((studies.c.events_removed > _HEARD, studies.c.events_removed), else_=_HEARD)
_COVERS: Final = (studies.c.project_id == webhooks.c.project_id) & or_(
    webhooks.c.study.is_(None), webhooks.c.study == studies.c.name
)
_CURSOR_OF_BOTH: Final = (webhook_cursors.c.webhook_id == webhooks.c.id) & (
    webhook_cursors.c.study_id == studies.c.id
)


def add(tx: Transaction, subscription: Subscription, *, secret: str, who: str) -> Webhook:
    """Store a webhook that will be told of what happens from now on. Raises ProjectNotFound."""
    project_id = tx.execute(
        select(projects.c.id).where(projects.c.name == subscription.project)
    ).scalar_one_or_none()
    if project_id is None:
        raise ProjectNotFound(subscription.project)
    row = {
        "project_id": project_id,
        "study": subscription.study,
        "url": subscription.url,
        "secret": secret,
        "kinds": list(subscription.kinds),
        "is_active": True,
        "failures": 0,
        "due_at": now(),
        "created_at": now(),
        "created_by": who,
    }
    webhook_id = tx.execute(insert(webhooks).values(row).returning(webhooks.c.id)).scalar_one()
    so_far = (
        select(literal(webhook_id), studies.c.id, studies.c.events)
        .join(webhooks, _COVERS)
        .where(webhooks.c.id == webhook_id)
    )
    tx.execute(insert(webhook_cursors).from_select(["webhook_id", "study_id", "seq"], so_far))
    return numbered(tx, webhook_id)


def numbered(tx: Transaction, webhook_id: int) -> Webhook:
    """Return the webhook. Raises WebhookNotFound."""
    row = tx.execute(_described().where(webhooks.c.id == webhook_id)).one_or_none()
    if row is None:
        raise WebhookNotFound(webhook_id)
    return _webhook(row)


def page(tx: Transaction, *, after: int, limit: int) -> list[Webhook]:
    """Return the webhooks after that one, oldest first."""
    statement = _described().where(webhooks.c.id > after).order_by(webhooks.c.id).limit(limit)
    return [_webhook(row) for row in tx.execute(statement)]


def pause(tx: Transaction, webhook_id: int) -> Webhook:
    """Send nothing more until it is resumed; what happens meanwhile waits. Raises WebhookNotFound."""
    tx.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(is_active=False))
    return numbered(tx, webhook_id)


def resume(tx: Transaction, webhook_id: int) -> Webhook:
    """Send again, at once, with a clean record. Raises WebhookNotFound."""
    clean = {"is_active": True, "failures": 0, "last_error": None, "due_at": now()}
    tx.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(clean))
    return numbered(tx, webhook_id)


def remove(tx: Transaction, webhook_id: int) -> None:
    """Forget the webhook, and how far it was told. Raises WebhookNotFound."""
    if not tx.execute(delete(webhooks).where(webhooks.c.id == webhook_id)).rowcount:
        raise WebhookNotFound(webhook_id)


def due(tx: Transaction, *, limit: int) -> list[int]:
    """Return webhooks that have something to send now, those that waited longest first."""
    has_news = _untold().where(_first_untold_at() <= later(-LINGER)).exists()
    statement = (
        select(webhooks.c.id)
        .where(webhooks.c.is_active, webhooks.c.due_at <= now(), has_news)
        .order_by(webhooks.c.due_at)
        .limit(limit)
    )
    return list(tx.execute(statement).scalars())


def take(tx: Transaction, webhook_id: int) -> Delivery | None:
    """Take the right to send to the webhook and what it is to be told next; None when that is nothing."""
    statement = (
        update(webhooks)
        .where(webhooks.c.id == webhook_id, webhooks.c.is_active, webhooks.c.due_at <= now())
        .values(due_at=later(SENDING_FOR))
        .returning(webhooks)
    )
    webhook = tx.execute(statement).one_or_none()
    if webhook is None:
        return None
    for study in tx.execute(_to_tell(webhook_id)).all():
        if delivery := _next(tx, webhook, study):
            return delivery
    tx.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(due_at=now()))
    return None


def arrived(tx: Transaction, delivery: Delivery) -> None:
    """Note that the webhook knows these events, unless another sender has taken over."""
    if _settled(tx, delivery, {"due_at": now(), "failures": 0, "last_error": None}):
        _move_cursor(tx, delivery.webhook, delivery.study_id, seq=delivery.through, sending=None)


def failed(tx: Transaction, delivery: Delivery, *, error: str, pause_for: timedelta) -> None:
    """Note a failure; the same events are due again after the pause, unless there were too many."""
    failures = delivery.failures + 1
    is_active = failures < MOST_FAILURES
    if not is_active:
        error = f"Paused after {failures} failures in a row. The last one: {error}"
    outcome = {"failures": failures, "last_error": error, "due_at": later(pause_for)}
    _settled(tx, delivery, outcome if is_active else outcome | {"is_active": False})


def _settled(tx: Transaction, delivery: Delivery, outcome: dict[str, Any]) -> bool:
    is_ours = (webhooks.c.id == delivery.webhook) & (webhooks.c.due_at == delivery.due_at)
    return tx.execute(update(webhooks).where(is_ours).values(outcome)).rowcount == 1


def _next(tx: Transaction, webhook: Row[Any], study: Row[Any]) -> Delivery | None:
    """Return the next events of a study that the webhook wants; those on their way already stay together."""
    is_next = (events.c.study_id == study.id) & (events.c.seq > study.told)
    is_next &= events.c.seq <= (study.sending or study.events)
    if webhook.kinds:
        is_next &= events.c.kind.in_(webhook.kinds)
    statement = select(events).where(is_next).order_by(events.c.seq).limit(MOST_EVENTS)
    found = [event(row) for row in tx.execute(statement)]
    through = study.sending or (found[-1].seq if len(found) == MOST_EVENTS else study.events)
    if not found:
        _move_cursor(tx, webhook.id, study.id, seq=through, sending=None)
        return None
    _move_cursor(tx, webhook.id, study.id, seq=study.told, sending=through)
    return Delivery(
        webhook=webhook.id,
        url=webhook.url,
        secret=webhook.secret,
        project=study.project,
        study=study.name,
        study_id=StudyId(study.id),
        through=through,
        events=found,
        failures=webhook.failures,
        due_at=webhook.due_at,
    )


def _move_cursor(
    tx: Transaction, webhook_id: int, study_id: StudyId, *, seq: int, sending: int | None
) -> None:
    """Only who holds the webhook's row does this, so nobody else inserts meanwhile."""
    place = {"seq": seq, "sending": sending}
    key = (webhook_cursors.c.webhook_id == webhook_id) & (webhook_cursors.c.study_id == study_id)
    if not tx.execute(update(webhook_cursors).where(key).values(place)).rowcount:
        tx.execute(insert(webhook_cursors).values(webhook_id=webhook_id, study_id=study_id, **place))


def _untold() -> Select[Any]:
    """Select what studies have events that a webhook of the outer query was not told yet."""
    return (
        select(studies.c.id)
        .select_from(studies.outerjoin(webhook_cursors, _CURSOR_OF_BOTH))
        .where(_COVERS, studies.c.events > _TOLD)
        .correlate(webhooks)
    )


def _to_tell(webhook_id: int) -> Select[Any]:
    waits_since = _first_untold_at()
    return (
        select(
            studies.c.id,
            studies.c.name,
            studies.c.events,
            projects.c.name.label("project"),
            _TOLD.label("told"),
            webhook_cursors.c.sending,
        )
        .select_from(
            webhooks.join(studies, _COVERS).join(projects).outerjoin(webhook_cursors, _CURSOR_OF_BOTH)
        )
        .where(webhooks.c.id == webhook_id, studies.c.events > _TOLD, waits_since <= later(-LINGER))
        .order_by(waits_since)
        .limit(MOST_STUDIES)
    )


def _first_untold_at() -> ColumnElement[Any]:
    return (
        select(events.c.at)
        .where(events.c.study_id == studies.c.id, events.c.seq > _TOLD)
        .order_by(events.c.seq)
        .limit(1)
        .correlate(studies, webhook_cursors)
        .scalar_subquery()
    )


def _described() -> Select[Any]:
    behind = (
        select(func.coalesce(func.sum(studies.c.events - _TOLD), 0))
        .select_from(studies.outerjoin(webhook_cursors, _CURSOR_OF_BOTH))
        .where(_COVERS)
        .correlate(webhooks)
        .scalar_subquery()
    )
    return select(webhooks, projects.c.name.label("project"), behind.label("behind")).join(projects)


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(
        id=row.id,
        subscription=Subscription(project=row.project, study=row.study, url=row.url, kinds=tuple(row.kinds)),
        is_active=row.is_active,
        failures=row.failures,
        last_error=row.last_error,
        behind=row.behind,
        created_at=row.created_at,
        created_by=row.created_by,
    )
