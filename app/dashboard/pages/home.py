"""The first page."""

from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import Response

from app.dashboard.rendering import missing, rendered
from app.dashboard.summaries.home import read_home
from app.dashboard.visit import TheVisit
from app.domain.errors import ProjectNotFound
from app.gate import READ
from app.house import TheHouse

router = APIRouter(dependencies=[READ])


@router.get("/")
def home(house: TheHouse, visit: TheVisit, q: str = "") -> Response:
    try:
        page = read_home(house, visit.project, q.strip())
    except ProjectNotFound:
        return missing(f"There is no project named “{visit.project}”.", replace(visit, home=visit.root))
    return rendered("home.html", page, visit)
