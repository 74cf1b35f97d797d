"""The trials of a study over HTTP, as lists."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app import wire
from app.api.answers import answer
from app.api.paths import Limit, Project, StudyName
from app.api.studies import WRONG
from app.domain.access import Principal, Scope
from app.domain.listing import Listing, Sort
from app.domain.trial import Origin, TrialState
from app.gate import needs
from app.house import TheHouse
from app.lifecycle import browse
from thiessen import contract

router = APIRouter(tags=["studies"])

Reader = Annotated[Principal, needs(Scope.READ)]


@router.get("/studies/{name}/trials", response_model=contract.Trials, responses=WRONG)
async def list_trials(
    name: StudyName,
    house: TheHouse,
    project: Project,
    who: Reader,
    *,
    state: Annotated[TrialState | None, Query(description="Only trials in this state.")] = None,
    origin: Annotated[Origin | None, Query(description="Only trials of this origin.")] = None,
    sort: Annotated[
        Sort,
        Query(description="By number, by loss (the succeeded), or by when they finished; - turns it round."),
    ] = Sort.NUMBER,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
    limit: Limit = 100,
) -> Response:
    """List the trials of a study."""
    del who
    listing = Listing(sort=sort, state=state, origin=origin)
    step = partial(browse.page, project=project, name=name, listing=listing, cursor=cursor, limit=limit)
    found, following = await house.store.seen(step)
    return answer(contract.Trials(trials=[wire.trial_line(each) for each in found], next=following))
