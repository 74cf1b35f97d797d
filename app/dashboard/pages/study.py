"""The page of a study, a tab at a time, and that of some of its trials side by side."""

import re
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.dashboard.pages.names import check_study, trial_number
from app.dashboard.rendering import missing, rendered
from app.dashboard.summaries.study import TABS, read_study
from app.dashboard.summaries.trials import MOST_CHOSEN, Asked
from app.dashboard.summaries.trials_compared import read_compared
from app.dashboard.visit import TheVisit
from app.domain.errors import StudyNotFound
from app.gate import READ
from app.house import TheHouse

CHOICES: Final = ("x", "y", "others", "candidates", "colour")  # of the landscape

router = APIRouter(dependencies=[READ])


@router.get("/studies/{name}/compare")
def compare(name: str, request: Request, house: TheHouse, visit: TheVisit) -> Response:
    try:
        check_study(name)
        page = read_compared(house, visit.project, name, _numbers(request))
    except StudyNotFound:
        return missing(f"There is no study named “{name}”.", visit)
    return rendered("trials_compared.html", page, visit)


@router.get("/studies/{name}")
@router.get("/studies/{name}/{tab}")
def study(name: str, request: Request, house: TheHouse, visit: TheVisit, tab: str = "overview") -> Response:
    if tab not in TABS:
        return missing(f"A study has no page “{tab}”; it has {', '.join(TABS)}.", visit)
    try:
        check_study(name)
        chosen = {word: said for word in CHOICES if (said := request.query_params.get(word))}
        asked = _asked(request) if tab == "trials" else Asked()
        page = read_study(house, visit.project, name, tab, asked=asked, chosen=chosen)
    except StudyNotFound:
        return missing(f"There is no study named “{name}”.", visit)
    is_wrong = page.table is not None and page.table.wrong is not None
    return rendered("study.html", page, visit, HTTPStatus.UNPROCESSABLE_ENTITY if is_wrong else HTTPStatus.OK)


def _asked(request: Request) -> Asked:
    said = request.query_params
    line = [said.get("filter", "").strip(), *(f"state:{state}" for state in said.getlist("state") if state)]
    return Asked(
        line=" ".join(filter(None, line)),
        sort=said.get("sort") or None,
        cursor=said.get("cursor") or None,
        columns=said.getlist("column"),
        chosen=_numbers(request),
    )


def _numbers(request: Request) -> list[int]:
    """Return the trials that are chosen, in order, each once."""
    said = re.split("[, ]+", " ".join(request.query_params.getlist("trials")))
    found = {number for each in said if (number := trial_number(each)) is not None}
    return sorted(found)[:MOST_CHOSEN]
