"""The first page."""

from fastapi import APIRouter
from fastapi.responses import Response

from app.dashboard.rendering import rendered
from app.dashboard.summaries.home import read_home
from app.gate import READ
from app.house import TheHouse

router = APIRouter(dependencies=[READ])


@router.get("/")
def home(house: TheHouse) -> Response:
    return rendered("home.html", read_home(house))
