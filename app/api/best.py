"""The best configs of every study over HTTP: what a dashboard shows first."""

from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response

from app import wire
from app.api.answers import answer
from app.api.paths import InComparison, Top
from app.api.problems import documented
from app.domain.access import Principal, Scope
from app.gate import Reach, needs
from app.house import TheHouse
from app.lifecycle import rank
from thiessen import contract

router = APIRouter(tags=["studies"])

Reader = Annotated[Principal, needs(Scope.READ, Reach.OWN)]


@router.get(
    "/best",
    response_model=contract.Best,
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
async def best_of_all(
    house: TheHouse, who: Reader, top: Top = 10, comparison: InComparison = None
) -> Response:
    """Return the best config of each study, those of the newest studies first."""
    step = partial(rank.best_of_all, project=who.project, top=top, comparison=comparison)
    found = await house.store.seen(step)
    return answer(contract.Best(best=[wire.best_config(each) for each in found]))
