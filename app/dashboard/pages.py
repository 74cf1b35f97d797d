"""The pages: ask for a summary, fill a template."""

import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from app.dashboard import static_files, summaries
from app.domain.errors import StudyNotFound, TrialNotFound
from app.domain.trial import TrialState
from app.gate import READ
from app.house import TheHouse
from thiessen.contract.words import NAME

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data:; "  # plotly draws a field of colours as an image of its own
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",  # after signing out the browser has nothing left to show
}
KEPT: Final = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
MOST_NUMBER: Final = 2**31 - 1  # of a trial: what the databases count with

router = APIRouter(include_in_schema=False)

Word = Annotated[str | None, Query(max_length=500)]


@router.get("/", dependencies=[READ])
def home(house: TheHouse) -> Response:
    return rendered("home.html", summaries.home(house))


@router.get("/studies/{name}", dependencies=[READ])
def study(
    name: str,
    house: TheHouse,
    *,
    state: TrialState | None = None,
    cursor: Word = None,
    x: Word = None,
    y: Word = None,
    others: Word = None,
) -> Response:
    try:
        _check(name)
        chosen = {"x": x, "y": y, "others": others}
        page = summaries.study(house, name, state=state, cursor=cursor, chosen=chosen)
    except StudyNotFound:
        return _missing(f"There is no study named “{name}”.", depth=1)
    return rendered("study.html", page, depth=1)


@router.get("/studies/{name}/trials/{number}", dependencies=[READ])
def trial(name: str, number: str, house: TheHouse) -> Response:
    try:
        _check(name)
        if not re.fullmatch("[0-9]{1,10}", number) or int(number) > MOST_NUMBER:
            return _missing(f"“{number}” is no number of a trial.", depth=3)
        page = summaries.trial(house, name, int(number))
    except StudyNotFound:
        return _missing(f"There is no study named “{name}”.", depth=3)
    except TrialNotFound:
        return _missing(f"Study “{name}” has no trial {number}.", depth=3)
    return rendered("trial.html", page, depth=3)


@router.get("/docs", dependencies=[READ])
def docs(request: Request) -> Response:
    return rendered("docs.html", summaries.calls(request.app.openapi()))


@router.get("/openapi.json", dependencies=[READ])
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(request.app.openapi())


@router.get("/static/{digest}/{name}")
def static(digest: str, name: str, request: Request) -> Response:
    found = static_files.file(name)
    if found is None or found.digest != digest:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = KEPT | {"Content-Encoding": "gzip"}
        return Response(found.zipped, media_type=found.kind, headers=headers)
    return Response(found.content, media_type=found.kind, headers=KEPT)


def rendered(
    template: str, page: object, status: HTTPStatus = HTTPStatus.OK, *, depth: int = 0
) -> HTMLResponse:
    """Return a page, filled into its template; it stands so many folders below the first page.

    Its links are relative, so it does not mind the prefix that a proxy may put before them all.
    """
    root = "../" * depth or "./"
    html = _templates().get_template(template).render(page=page, root=root)
    return HTMLResponse(html, status_code=status, headers=POLICY)


def _check(name: str) -> None:
    """Raise StudyNotFound if no study can have this name."""
    if not re.fullmatch(NAME, name):
        raise StudyNotFound(name)


def _missing(sentence: str, *, depth: int) -> Response:
    return rendered("missing.html", sentence, HTTPStatus.NOT_FOUND, depth=depth)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals["static"] = static_files.address
    return environment
