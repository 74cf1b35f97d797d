"""Fills templates, and sends them with the policy that browsers are to keep."""

from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fastapi.responses import HTMLResponse, Response

from app.dashboard import static_files
from app.dashboard.visit import Visit

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


def rendered(template: str, page: object, visit: Visit, status: HTTPStatus = HTTPStatus.OK) -> HTMLResponse:
    """Return a page, filled into its template."""
    html = _templates().get_template(template).render(page=page, visit=visit, root=visit.root)
    return HTMLResponse(html, status_code=status, headers=POLICY)


def missing(sentence: str, visit: Visit) -> Response:
    """Return the page that says what is not there."""
    return rendered("missing.html", sentence, visit, HTTPStatus.NOT_FOUND)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals["static"] = static_files.address
    return environment
