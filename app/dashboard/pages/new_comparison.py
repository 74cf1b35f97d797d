"""The page that creates a comparison: pasted as text, and shown with its cost before it is created."""

from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from app.dashboard.rendering import rendered
from app.dashboard.sent import Form, TheForm
from app.dashboard.summaries.new_comparison import STARTER, NewComparison, digest, preview_of
from app.dashboard.visit import TheVisit, Visit
from app.domain.access import Principal, Scope
from app.domain.errors import Conflict, Refusal
from app.gate import needs
from app.house import House, TheHouse
from app.lifecycle import compare
from thiessen.comparison.text import read
from thiessen.study_text import WrongText

router = APIRouter(prefix="/new/comparison")  # not below /comparisons: one may be named so

Submitter = Annotated[Principal, needs(Scope.SUBMIT)]
LONGEST_TEXT: Final = 100_000  # characters; a larger comparison is sent to the API
WRONG: Final = HTTPStatus.UNPROCESSABLE_ENTITY


@router.get("")
def ask(visit: TheVisit, who: Submitter) -> Response:
    del who
    return rendered("new_comparison.html", NewComparison(text=STARTER), visit)


@router.post("")
def create(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    """Show what a comparison costs; create it once that was seen of this very text."""
    asked = NewComparison(text=form.typed("text"), kind="toml" if form.one("kind") == "toml" else "yaml")
    try:
        return _created(house, visit, who, asked, form)
    except WrongText as wrong:
        return _shown(visit, asked, wrong)
    except Refusal as refusal:
        status = HTTPStatus.CONFLICT if isinstance(refusal, Conflict) else WRONG
        return rendered(
            "new_comparison.html", replace(asked, faults=[(None, "", str(refusal))]), visit, status
        )


def _created(house: House, visit: Visit, who: Principal, asked: NewComparison, form: Form) -> Response:
    """Return the preview, or the way to what was created. Raises WrongText, Refusal."""
    if len(asked.text) > LONGEST_TEXT:
        raise WrongText(f"is longer than {LONGEST_TEXT:,} characters; send it to the API", [])
    spec = read(asked.text, "toml" if asked.kind == "toml" else "yaml", has_aliases=False)
    parts = compare.searches(spec)
    of = digest(asked.text, asked.kind)
    if form.one("do") != "create" or form.one("seen") != of:
        found = replace(asked, preview=preview_of(house, visit.project, spec, of))
        return rendered("new_comparison.html", found, visit)
    house.store.write(partial(compare.create, project=visit.project, sent=spec, parts=parts, who=who.name))
    return RedirectResponse(f"{visit.home}comparisons/{spec.name}", HTTPStatus.SEE_OTHER)


def _shown(visit: Visit, asked: NewComparison, wrong: WrongText) -> Response:
    lines = ["", *asked.text.splitlines(), ""]
    faults = [
        (fault.line, lines[min(fault.line or 0, len(lines) - 1)].strip(), fault.said)
        for fault in wrong.faults
    ]
    faults = faults or [(None, "", f"The text {wrong}")]
    return rendered("new_comparison.html", replace(asked, faults=faults), visit, WRONG)
