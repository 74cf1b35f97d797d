"""The pages: ask for a summary, fill a template."""

import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from app.dashboard import summaries
from app.domain.errors import StudyNotFound
from app.gate import READ
from app.house import TheHouse
from thiessen.contract.words import NAME

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",  # after signing out the browser has nothing left to show
}
REFRESH_SECONDS: Final = 3

router = APIRouter(include_in_schema=False)


@router.get("/", dependencies=[READ])
def home(house: TheHouse) -> Response:
    return rendered("home.html", summaries.home(house))


@router.get("/studies/{name}", dependencies=[READ])
def study(name: str, house: TheHouse) -> Response:
    try:
        page = summaries.study(house, name) if re.fullmatch(NAME, name) else None
    except StudyNotFound:
        page = None
    if page is None:
        return rendered("missing.html", name, status=HTTPStatus.NOT_FOUND)
    return rendered("study.html", page)


@router.get("/docs", dependencies=[READ])
def docs(request: Request) -> Response:
    return rendered("docs.html", summaries.calls(request.app.openapi()))


@router.get("/openapi.json", dependencies=[READ])
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(request.app.openapi())


@router.get("/style.css")
def style() -> Response:
    return Response((TEMPLATES / "style.css").read_text(), media_type="text/css", headers=POLICY)


def rendered(template: str, page: object, status: HTTPStatus = HTTPStatus.OK) -> HTMLResponse:
    """Return a page, filled into its template."""
    html = _templates().get_template(template).render(page=page)
    live = getattr(page, "is_live", False)
    return HTMLResponse(
        html, status_code=status, headers=POLICY | ({"Refresh": str(REFRESH_SECONDS)} if live else {})
    )


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
