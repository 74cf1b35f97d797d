"""The events of a study over HTTP: as a stream that can be resumed, or page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.types import Receive, Scope, Send

from app import wire
from app.api.paths import Project, StudyName
from app.api.problems import documented
from app.domain.event import Event
from app.domain.study import StudyId
from app.gate import READ, Welcome
from app.house import House, TheHouse
from app.lifecycle.follow import Followers, Heard
from app.storage import DatabaseUnavailable, feed, retention, studies
from thiessen import contract
from thiessen.contract.words import NeverNull

STREAM: Final = "text/event-stream"
PAGE: Final = 100  # events read and sent at once
HEARTBEAT_SECONDS: Final = 5.0  # and then it is seen whether the reader is welcome still
RECONNECT_MILLISECONDS: Final = 2000

router = APIRouter(tags=["events"], dependencies=[READ])

Accept = Annotated[str, Header(description=f"`{STREAM}` for the stream; anything else is a page.")]
After = Annotated[int, Query(ge=0, lt=2**31, description="Only events after this number.")]
LastEventId = Annotated[
    Annotated[int, Field(ge=0, lt=2**31)] | None,
    NeverNull(),
    Header(alias="Last-Event-ID", description="As `after`, which it wins over."),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many events a page has at most.")]


@router.get(
    "/studies/{name}/events",
    response_model=contract.EventPage,
    responses={
        200: {"description": "A page, or the stream.", "content": {STREAM: {"schema": {"type": "string"}}}},
        **documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE),
    },
)
async def events(
    name: StudyName,
    house: TheHouse,
    project: Project,
    is_welcome: Welcome,
    accept: Accept = "*/*",
    last_event_id: LastEventId = None,
    after: After = 0,
    limit: Limit = PAGE,
) -> Response:
    """Follow what happens in a study."""
    study = await house.store.seen(partial(studies.named, project=project, name=name))
    after = after if last_event_id is None else last_event_id
    if STREAM in accept:
        return EventStream(house.followers, _frames(house, study.id, after, is_welcome))
    found = await _page(house, study.id, after, limit)
    removed = await house.store.seen(partial(retention.removed, study_id=study.id))
    page = contract.EventPage(
        events=[wire.event(event) for event in found],
        next=found[-1].seq if found else max(after, removed),
        removed=removed,
    )
    return Response(page.model_dump_json(), media_type="application/json")


class EventStream(StreamingResponse):
    """Holds its seat exactly as long as it is sent."""

    def __init__(self, followers: Followers, frames: AsyncIterator[str]) -> None:
        # Neither kept by a cache nor held back by a proxy.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(frames, media_type=STREAM, headers=headers)
        self._followers = followers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._followers.seat():
            await super().__call__(scope, receive, send)


async def _frames(
    house: House, study_id: StudyId, after: int, is_welcome: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    """Yield page after page, then each new one. The next is read only when the last has been sent."""
    yield f"retry: {RECONNECT_MILLISECONDS}\n\n"
    with suppress(DatabaseUnavailable):  # the reader comes back and goes on where it was
        while await is_welcome():
            found = await _page(house, study_id, after, PAGE)
            if found:
                yield "".join(_frame(event) for event in found)
                after = found[-1].seq
            if len(found) == PAGE:
                continue
            while (heard := await _next(house, study_id, after)) is Heard.SILENCE and await is_welcome():
                yield ": alive\n\n"
            if heard is Heard.END:
                return


async def _next(house: House, study_id: StudyId, after: int) -> Heard:
    return await house.followers.wait(study_id, after=after, patience_seconds=HEARTBEAT_SECONDS)


async def _page(house: House, study_id: StudyId, after: int, limit: int) -> list[Event]:
    step = partial(feed.page, study_id=study_id, after=after, limit=limit)
    return await house.store.seen(step)


def _frame(event: Event) -> str:
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {wire.event(event).model_dump_json()}\n\n"
