"""Replay over HTTP."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.answers import answer
from app.api.export import as_record
from app.api.paths import Project, StudyName
from app.api.problems import documented
from app.domain.access import Principal, Scope
from app.gate import needs
from app.house import TheHouse
from app.lifecycle import export as exports
from thiessen import contract

router = APIRouter(tags=["studies"])

Reader = Annotated[Principal, needs(Scope.READ)]
ERRORS = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE)


@router.get("/studies/{name}/replay", response_model=contract.Replay, responses=ERRORS)
async def replay_study(
    name: StudyName,
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    first: Annotated[
        int, Query(ge=1, le=1_000_000, description="How many trials, from the first on.")
    ] = 10_000,
) -> Response:
    """Compute the proposals of a study again, and compare them with those that are stored."""
    del who
    export = await exports.begin_with(house.store, project, name, first)
    replayed = await house.replays.replay(as_record(export))
    return answer(contract.Replay(trials=export.trials, **vars(replayed)))
