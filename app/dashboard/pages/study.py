"""The page of a study."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from app.dashboard.pages.names import check_study
from app.dashboard.rendering import missing, rendered
from app.dashboard.summaries.study import read_study
from app.dashboard.visit import TheVisit
from app.domain.errors import StudyNotFound
from app.domain.trial import TrialState
from app.gate import READ
from app.house import TheHouse

router = APIRouter(dependencies=[READ])

Word = Annotated[str | None, Query(max_length=500)]


@router.get("/studies/{name}")
def study(
    name: str,
    house: TheHouse,
    visit: TheVisit,
    *,
    state: TrialState | None = None,
    cursor: Word = None,
    x: Word = None,
    y: Word = None,
    others: Word = None,
) -> Response:
    try:
        check_study(name)
        chosen = {"x": x, "y": y, "others": others}
        page = read_study(house, visit.project, name, state=state, cursor=cursor, chosen=chosen)
    except StudyNotFound:
        return missing(f"There is no study named “{name}”.", visit)
    return rendered("study.html", page, visit)
