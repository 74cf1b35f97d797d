"""The pages of comparisons: their list, each of them, and what its forms do."""

import asyncio
import re
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import ValidationError

from app.dashboard import typed
from app.dashboard.actions import Done, answered, refused, wants_page
from app.dashboard.rendering import missing, rendered
from app.dashboard.sent import Form, TheForm, number
from app.dashboard.summaries.comparison import read_comparison
from app.dashboard.summaries.comparisons import read_comparisons
from app.dashboard.visit import TheVisit, Visit
from app.domain.access import Principal, Scope
from app.domain.errors import ComparisonNotFound, Conflict, InvalidRequest, NotFound, Refusal
from app.domain.study import StudyState
from app.gate import READ, Allowed, needs
from app.house import House, TheHouse
from app.lifecycle import compare
from app.storage import Transaction, comparisons
from thiessen.contract import ComparisonChanges
from thiessen.contract.faults import faults
from thiessen.contract.words import NAME

router = APIRouter()

Submitter = Annotated[Principal, needs(Scope.SUBMIT)]
Before = Annotated[int | None, Query(ge=1, lt=2**53)]
State = Annotated[Literal["", "active", "paused", "stopped", "completed"], Query()]
STATES: Final = {
    "pause": ("Paused.", "paused"),
    "resume": ("It goes on.", "active"),
    "stop": ("Stopped.", "stopped"),
}
PURGING: Final = Allowed(Scope.ADMIN)


@router.get("/comparisons", dependencies=[READ])
async def listed(house: TheHouse, visit: TheVisit, state: State = "", before: Before = None) -> Response:
    wanted = StudyState(state) if state else None
    page = await read_comparisons(house, visit.project, wanted, before)
    return rendered("comparisons.html", page, visit)


@router.get("/comparisons/{name}", dependencies=[READ])
async def comparison(name: str, house: TheHouse, visit: TheVisit) -> Response:
    try:
        _check(name)
        page = await read_comparison(house, visit.project, name)
    except ComparisonNotFound:
        return _missing(name, visit)
    return await asyncio.to_thread(rendered, "comparison.html", page, visit)  # of a thousand searches


@router.post("/comparisons/{name}")
async def write(
    name: str, form: TheForm, request: Request, house: TheHouse, visit: TheVisit, who: Submitter
) -> Response:
    try:
        _check(name)
        return answered(request, await _written(form, house, visit.project, name, who))
    except Refusal as refusal:
        if not (wants_page(request) and visit.may(Scope.READ)):
            raise
        if isinstance(refusal, NotFound):
            return _missing(name, visit)
        page = await read_comparison(house, visit.project, name)
        page = replace(page, actions=refused(page.actions, form, str(refusal)))
        status = HTTPStatus.CONFLICT if isinstance(refusal, Conflict) else HTTPStatus.UNPROCESSABLE_ENTITY
        return rendered("comparison.html", page, visit, status)


def _check(name: str) -> None:
    if not re.fullmatch(NAME, name):
        raise ComparisonNotFound(name)


def _missing(name: str, visit: Visit) -> Response:
    return missing(f"There is no comparison named “{name}”.", visit)


async def _written(form: Form, house: House, project: str, name: str, who: Principal) -> Done:
    """Do what a form asks for. Raises InvalidRequest, ScopeMissing, and what the step raises."""
    match form.one("do"):
        case "pause" | "resume" | "stop" as verb:
            said, state = STATES[verb]
            return await _changed(house, project, name, who, said, state=state)
        case "extend":
            wanted = await house.store.seen(partial(_extension, project=project, name=name, form=form))
            return await _changed(house, project, name, who, "It has more to do now.", **wanted)
        case "note":
            tags = typed.names(form.one("tags"))
            said = "Written down."
            return await _changed(house, project, name, who, said, notes=form.typed("notes"), tags=tags)
        case "delete":
            return await _deleted(form, house, project, name, who)
    raise InvalidRequest(f"No form here does “{form.one('do')[:40]}”. Load the page again.")


def _extension(tx: Transaction, project: str, name: str, form: Form) -> dict[str, Any]:
    """Return what is to be more, in the unit that the comparison has."""
    budget = comparisons.named(tx, project, name).spec["budget"]
    [unit] = [unit for unit, most in budget.items() if most is not None]
    return {
        "budget": {unit: number(form.one("budget"))},
        "replicates": typed.whole(form.one("replicates"), "Searches of each arm"),
    }


async def _changed(house: House, project: str, name: str, who: Principal, said: str, **wanted: Any) -> Done:
    try:
        changes = ComparisonChanges.model_validate(wanted)
    except ValidationError as error:
        raise InvalidRequest(f"{faults(error)}.") from error
    step = partial(compare.change, project=project, name=name, sent=changes, who=who.name)
    await asyncio.to_thread(house.store.write, step)  # it may take seconds
    return Done(said, name)


async def _deleted(form: Form, house: House, project: str, name: str, who: Principal) -> Done:
    if form.one("name") != name:
        raise InvalidRequest(f"Nothing was deleted. To delete this comparison type its name: {name}")
    is_purge = bool(form.all("purge"))
    if is_purge:
        PURGING.insist(who)
    remove = compare.purge if is_purge else compare.archive
    step = partial(remove, project=project, name=name, who=who.name)
    await asyncio.to_thread(house.store.write, step)
    return Done("Deleted.", "../comparisons", leaves=True)
