"""The pages: ask for a summary, fill a template."""

import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app.dashboard import summaries
from app.domain.errors import StudyNotFound
from app.house import TheHouse
from thiessen.contract.words import NAME

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}
REFRESH_SECONDS: Final = 3

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(house: TheHouse) -> Response:
    return _page("home.html", summaries.home(house))


@router.get("/studies/{name}")
def study(name: str, house: TheHouse) -> Response:
    try:
        page = summaries.study(house, name) if re.fullmatch(NAME, name) else None
    except StudyNotFound:
        page = None
    if page is None:
        return _page("missing.html", name, status=HTTPStatus.NOT_FOUND)
    return _page("study.html", page)


@router.get("/docs")
def docs(request: Request) -> Response:
    return _page("docs.html", summaries.calls(request.app.openapi()))


@router.get("/style.css")
def style() -> Response:
    return Response((TEMPLATES / "style.css").read_text(), media_type="text/css", headers=POLICY)


def _page(template: str, page: object, status: HTTPStatus = HTTPStatus.OK) -> HTMLResponse:
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
