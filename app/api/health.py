"""Is the process alive, and can it do its work?"""

from http import HTTPStatus

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from app.api.problems import RETRY_SECONDS, problem
from app.house import TheHouse
from app.storage import clock

router = APIRouter(include_in_schema=False)


@router.get("/healthz", response_class=PlainTextResponse)
def healthy() -> str:
    """Answer as long as the process lives."""
    return "alive\n"


@router.get("/readyz")
async def ready(house: TheHouse) -> Response:
    """Answer 200 when the database answers and the server is to stay, else 503."""
    if house.closing.is_set():
        detail = "This server is stopping. Send it elsewhere, or again when it is back."
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "stopping", detail, Retry_After=str(RETRY_SECONDS))
    await house.store.seen(clock.read)
    return PlainTextResponse("ready\n")
