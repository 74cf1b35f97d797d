"""Studies over HTTP."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.api import wire
from app.api.problems import documented
from app.gate import READ, SUBMIT
from app.house import TheHouse
from app.lifecycle import rank, submit
from thiessen import contract
from thiessen.contract.words import Name

router = APIRouter(tags=["studies"])

StudyName = Annotated[Name, Path(description="The study's name.")]
Top = Annotated[int, Query(ge=1, le=1000, description="How many configs to list.")]
Number = Annotated[int, Path(ge=0, lt=2**31, description="The trial's number in its study.")]


@router.post(
    "/studies",
    status_code=HTTPStatus.CREATED,
    dependencies=[SUBMIT],
    responses={
        200: {"model": contract.Study, "description": "The same study exists; here it is."},
        **documented(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY),
    },
)
def create_study(sent: contract.StudySpec, house: TheHouse, response: Response) -> contract.Study:
    """Create a study; the same name and spec again is the existing one."""
    progress, is_new = submit.submit(house.store, wire.spec(sent))
    if not is_new:
        response.status_code = HTTPStatus.OK
    return wire.study(progress)


@router.get(
    "/studies/{name}",
    dependencies=[READ],
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def read_study(name: StudyName, house: TheHouse) -> contract.Study:
    """Return a study as it stands."""
    return wire.study(submit.progress(house.store, name))


@router.get(
    "/studies/{name}/best",
    dependencies=[READ],
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def best(name: StudyName, house: TheHouse, top: Top = 10) -> contract.Best:
    """Return the best configs of a study, best first."""
    return contract.Best(best=[wire.best_config(found) for found in rank.best(house.store, name, top)])


@router.get(
    "/studies/{name}/trials/{number}",
    dependencies=[READ],
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def read_trial(name: StudyName, number: Number, house: TheHouse) -> contract.Trial:
    """Return a trial: its config, why it was proposed, its attempts and learning curves."""
    return wire.trial(submit.trial(house.store, name, number))
