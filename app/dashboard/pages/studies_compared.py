"""The page that shows studies side by side."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from app.dashboard.rendering import rendered
from app.dashboard.summaries.studies_compared import read_comparison
from app.dashboard.visit import TheVisit
from app.gate import READ
from app.house import TheHouse
from thiessen.contract.words import NO_NUL

router = APIRouter(dependencies=[READ])

Word = Annotated[str | None, Query(max_length=500, pattern=NO_NUL)]


@router.get("/compare")
def compare(
    house: TheHouse,
    visit: TheVisit,
    study: Annotated[list[Annotated[str, Query(max_length=100, pattern=NO_NUL)]], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    x: Word = None,
    y: Word = None,
) -> Response:
    return rendered("studies_compared.html", read_comparison(house, visit.project, study, x=x, y=y), visit)
