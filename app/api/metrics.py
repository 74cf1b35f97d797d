"""What Prometheus reads."""

from math import nan

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from app import meters
from app.domain.access import Scope
from app.gate import Reach, needs
from app.house import TheHouse
from app.storage import DatabaseUnavailable, Transaction, depth

router = APIRouter(include_in_schema=False)


@router.get("/metrics", dependencies=[needs(Scope.READ, Reach.SERVER)])
def scrape(house: TheHouse) -> Response:
    """Answer even without a database, whose part is then not a number: that is when somebody looks."""
    try:
        trials, waiting = house.store.read(_depth)
    except DatabaseUnavailable:
        trials, waiting = dict.fromkeys(depth.OPEN, nan), nan
    for state, number in trials.items():
        meters.TRIALS.labels(state).set(number)
    meters.WAITING_STUDIES.set(waiting)
    return Response(meters.exposition(), media_type=CONTENT_TYPE_LATEST)


def _depth(tx: Transaction) -> tuple[dict[str, float], float]:
    return {**depth.of_active_studies(tx)}, depth.waiting_studies(tx)
