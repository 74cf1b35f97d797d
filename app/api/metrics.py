"""What Prometheus reads."""

from math import nan

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from app import meters
from app.domain.access import Scope
from app.gate import Reach, needs
from app.house import TheHouse
from app.storage import DatabaseUnavailable, depth

router = APIRouter(include_in_schema=False)


@router.get("/metrics", dependencies=[needs(Scope.READ, Reach.SERVER)])
def scrape(house: TheHouse) -> Response:
    """Answer even without a database, whose part is then not a number: that is when somebody looks."""
    try:
        waiting: dict[str, float] = {**house.store.read(depth.of_active_studies)}
    except DatabaseUnavailable:
        waiting = dict.fromkeys(depth.OPEN, nan)
    for state, number in waiting.items():
        meters.TRIALS.labels(state).set(number)
    return Response(meters.exposition(), media_type=CONTENT_TYPE_LATEST)
