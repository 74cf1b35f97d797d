"""What has come of the trials of a study, as columns."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.paths import Project, StudyName
from app.api.studies import WRONG
from app.domain.access import Principal, Scope
from app.gate import needs
from app.house import TheHouse
from thiessen import contract

router = APIRouter(tags=["studies"])

Reader = Annotated[Principal, needs(Scope.READ)]
Most = Annotated[
    int | None,
    Query(
        ge=1,
        le=1_000_000,
        description="At most so many trials: a quarter the best, the others evenly spread; all without it.",
    ),
]


@router.get("/studies/{name}/history", response_model=contract.History, responses=WRONG)
async def read_history(
    name: StudyName, house: TheHouse, project: Project, who: Reader, most: Most = None
) -> Response:
    """Return the finished trials of a study, a list for each column, in the order they finished in."""
    del who
    written = await asyncio.to_thread(house.histories.written, house.store.read, project, name, most)
    return Response(written, media_type="application/json")
