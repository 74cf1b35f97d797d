"""Is the process alive, and can it do its work?"""

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from app.house import TheHouse
from app.lifecycle.submit import newest

router = APIRouter(include_in_schema=False)


@router.get("/healthz", response_class=PlainTextResponse)
def healthy() -> str:
    """Answer as long as the process lives."""
    return "alive\n"


@router.get("/readyz", response_class=PlainTextResponse)
def ready(house: TheHouse) -> str:
    """Answer 200 when the database answers, else 503."""
    newest(house.store, limit=1)
    return "ready\n"
