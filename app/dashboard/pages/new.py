"""The pages that create a study: a form, and the same as text."""

from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from app.dashboard.rendering import rendered
from app.dashboard.sent import Fault, Form, TheForm
from app.dashboard.study_form import MOST_ROWS, ROWS, called, document_of, fault_of, faults_of, form_of, rows
from app.dashboard.summaries.new import STARTER, NewStudy, NewText, read_offers, space_of
from app.dashboard.visit import TheVisit, Visit
from app.domain.access import Principal, Scope
from app.domain.errors import Conflict, QuotaUsedUp, Refusal
from app.gate import needs
from app.house import House, TheHouse
from app.lifecycle import draft, submit
from thiessen.contract import StudySpec
from thiessen.contract.words import NO_NUL
from thiessen.search.strategy import StrategyError
from thiessen.space import SpaceError
from thiessen.study_text import WrongText
from thiessen.study_text import read as read_text

router = APIRouter(prefix="/new")  # not below /studies: a study may be named so

Submitter = Annotated[Principal, needs(Scope.SUBMIT)]
Word = Annotated[str | None, Query(max_length=100, pattern=NO_NUL)]
LONGEST_TEXT: Final = 100_000  # characters; a larger study is sent to the API
WRONG: Final = HTTPStatus.UNPROCESSABLE_ENTITY


@router.get("")
def ask(house: TheHouse, visit: TheVisit, who: Submitter, task: Word = None, space: Word = None) -> Response:
    del who
    offers, offered = read_offers(house, visit.project)
    form = Form({"task": [task or ""]})
    suggested = None if task is None or space is None else space_of(offered, task, space)
    if suggested is not None:
        form, _ = form_of(StudySpec.model_validate({"name": task, "task": task, "space": suggested}))
    return rendered("new.html", NewStudy(form=form, offers=offers), visit)


@router.post("")
def create(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    spec, faults = _checked(form)
    status = WRONG
    if spec is not None:
        try:
            return _created(house, visit, who, spec)
        except Refusal as refusal:
            faults = [Fault(_field(refusal), str(refusal))]
            status = HTTPStatus.CONFLICT if isinstance(refusal, Conflict) else WRONG
    return _shown(house, visit, form, faults, status)


@router.post("/check")
def check(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    """What is wrong with the form so far, for the script that asks when a field is left."""
    del who
    return _shown(house, visit, form, _checked(form)[1])


@router.post("/more")
def more(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    del who
    many = min(len(rows(form)) + ROWS, MOST_ROWS)
    return _shown(house, visit, Form({**form.texts, "rows": [str(many)]}), [])


@router.post("/to-yaml")
def to_yaml(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    import yaml

    del who
    document, faults = document_of(form)
    if faults:
        return _shown(house, visit, form, faults, WRONG)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return rendered("new_yaml.html", NewText(text=text), visit)


@router.get("/yaml")
def ask_yaml(visit: TheVisit, who: Submitter) -> Response:
    del who
    return rendered("new_yaml.html", NewText(text=STARTER), visit)


@router.post("/yaml")
def create_yaml(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    text = _text(form)
    try:
        return _created(house, visit, who, _read(text))
    except WrongText as wrong:
        return _shown_text(visit, text, wrong)
    except (Refusal, SpaceError, StrategyError) as refusal:
        status = HTTPStatus.CONFLICT if isinstance(refusal, Conflict) else WRONG
        page = NewText(text=text, faults=[(None, "", str(refusal))])
        return rendered("new_yaml.html", page, visit, status)


@router.post("/to-form")
def to_form(house: TheHouse, visit: TheVisit, who: Submitter, form: TheForm) -> Response:
    del who
    text = _text(form)
    try:
        found, left = form_of(_read(text))
    except WrongText as wrong:
        return _shown_text(visit, text, wrong)
    if left:
        note = f"The form has no room for {', '.join(left)}. The study can be created from here."
        return rendered("new_yaml.html", NewText(text=text, note=note), visit)
    return _shown(house, visit, found, [])


def _checked(form: Form) -> tuple[StudySpec | None, list[Fault]]:
    """Return the study of a form, or what is wrong with it."""
    document, faults = document_of(form)
    try:
        spec = StudySpec.model_validate(document)
        draft.spec(spec)
    except ValidationError as error:
        faults += faults_of(error, form)
    except (SpaceError, StrategyError) as error:
        faults.append(fault_of(error, form))
    else:
        return (None if faults else spec), faults
    return None, faults


def _created(house: House, visit: Visit, who: Principal, sent: StudySpec) -> Response:
    """Create a study as the API does, and lead to it. Raises Refusal, SpaceError, StrategyError."""
    step = partial(
        submit.submit,
        project=visit.project,
        spec=draft.spec(sent),
        budget=draft.budget(sent),
        remarks=draft.remarks(sent),
        who=who.name,
    )
    house.store.write(step)
    return RedirectResponse(f"{visit.home}studies/{sent.name}", HTTPStatus.SEE_OTHER)


def _field(refusal: Refusal) -> str:
    """Return what has to change: the space that a task does not accept, or the name that is taken."""
    if isinstance(refusal, QuotaUsedUp):
        return ""
    return "name" if isinstance(refusal, Conflict) else "space-0-name"


def _shown(
    house: House, visit: Visit, form: Form, faults: list[Fault], status: HTTPStatus = HTTPStatus.OK
) -> Response:
    offers, _ = read_offers(house, visit.project)
    told = [replace(fault, label=called(fault.field)) for fault in faults]
    return rendered("new.html", NewStudy(form=form, offers=offers, faults=told), visit, status)


def _text(form: Form) -> str:
    return form.texts.get("text", [""])[0].replace("\r\n", "\n")


def _read(text: str) -> StudySpec:
    """Return the study that is written there. Raises WrongText."""
    if len(text) > LONGEST_TEXT:
        raise WrongText(f"is longer than {LONGEST_TEXT:,} characters; send it to the API", [])
    return read_text(text, "yaml", "sweep", has_aliases=False)


def _shown_text(visit: Visit, text: str, wrong: WrongText) -> Response:
    lines = ["", *text.splitlines(), ""]
    faults = [
        (fault.line, lines[min(fault.line or 0, len(lines) - 1)].strip(), fault.said)
        for fault in wrong.faults
    ]
    faults = faults or [(None, "", f"The text {wrong}")]
    return rendered("new_yaml.html", NewText(text=text, faults=faults), visit, WRONG)
