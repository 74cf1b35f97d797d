"""What the forms of pages do: the steps that the interface takes, and then a page again."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

from app.dashboard import typed
from app.dashboard.actions import Done, answered, refused, wants_page
from app.dashboard.pages.names import check_study, trial_number
from app.dashboard.rendering import missing, rendered
from app.dashboard.sent import Form, TheForm
from app.dashboard.summaries.study import read_study
from app.dashboard.summaries.trial import read_trial
from app.dashboard.summaries.trials import Asked
from app.dashboard.values import many
from app.dashboard.visit import TheVisit
from app.domain.access import Principal, Scope
from app.domain.errors import Conflict, InvalidRequest, NotFound, Refusal
from app.gate import Allowed, needs
from app.house import TheHouse
from app.lifecycle import change, enqueue, intervene
from app.lifecycle.enqueue import Added
from app.storage import Transaction
from thiessen.contract import StudyChanges, TrialChanges
from thiessen.contract.faults import faults

router = APIRouter()

Submitter = Annotated[Principal, needs(Scope.SUBMIT)]
Step = Callable[[Transaction], Done]
STATES: Final = {
    "pause": ("Paused.", "paused"),
    "resume": ("It goes on.", "active"),
    "stop": ("Stopped.", "stopped"),
}
PURGING: Final = Allowed(Scope.ADMIN)


@router.post("/studies/{name}")
def write_study(
    name: str, form: TheForm, request: Request, house: TheHouse, visit: TheVisit, who: Submitter
) -> Response:
    try:
        check_study(name)
        return answered(request, house.store.write(_of_study(form, visit.project, name, who)))
    except Refusal as refusal:
        if not (wants_page(request) and visit.may(Scope.READ)):
            raise
        if isinstance(refusal, NotFound):
            return missing(f"There is no study named “{name}”.", visit)
        page = read_study(house, visit.project, name, "overview", asked=Asked(), chosen={})
        page = replace(page, actions=refused(page.actions, form, str(refusal)))
        return rendered("study.html", page, visit, _status(refusal))


@router.post("/studies/{name}/trials/{said}")
def write_trial(
    name: str, said: str, form: TheForm, request: Request, house: TheHouse, visit: TheVisit, who: Submitter
) -> Response:
    number = trial_number(said)
    try:
        check_study(name)
        if number is None:
            raise InvalidRequest(f"{said!r} is no number of a trial.")
        return answered(request, house.store.write(_of_trial(form, visit.project, name, number, who)))
    except Refusal as refusal:
        if not (wants_page(request) and visit.may(Scope.READ)):
            raise
        if number is None or isinstance(refusal, NotFound):
            return missing(f"Study “{name}” has no trial {said}.", visit)
        page = read_trial(house, visit.project, name, number)
        page = replace(page, actions=refused(page.actions, form, str(refusal)))
        return rendered("trial.html", page, visit, _status(refusal))


def _status(refusal: Refusal) -> HTTPStatus:
    return HTTPStatus.CONFLICT if isinstance(refusal, Conflict) else HTTPStatus.UNPROCESSABLE_ENTITY


def _of_study(form: Form, project: str, name: str, who: Principal) -> Step:
    """Return the step that a form of a study asks for. Raises InvalidRequest, ScopeMissing."""
    changed = partial(_changed, project, name, who)
    match form.one("do"):
        case "pause" | "resume" | "stop" as verb:
            said, state = STATES[verb]
            return changed(said, state=state)
        case "extend":
            most = typed.whole(form.one("max_trials"), "Trials in all")
            return changed(f"It has {many(most, 'trial')} in all now.", max_trials=most)
        case "note":
            tags = typed.names(form.one("tags"))
            return changed("Written down.", notes=form.typed("notes"), tags=tags)
        case "enqueue":
            return _enqueued(form, project, name, who)
        case "retry":
            return partial(_retried, project=project, name=name, who=who)
        case "delete":
            return _deleted(form, project, name, who)
    raise _unknown(form)


def _of_trial(form: Form, project: str, name: str, number: int, who: Principal) -> Step:
    """Return the step that a form of a trial asks for. Raises InvalidRequest."""
    asked: dict[str, tuple[str, dict[str, str]]] = {
        "cancel": ("Cancelled.", {"state": "cancelled"}),
        "retry": ("It is tried again.", {"state": "queued"}),
        "note": ("Written down.", {"notes": form.typed("notes")}),
    }
    if form.one("do") not in asked:
        raise _unknown(form)
    said, wanted = asked[form.one("do")]
    changes = _checked(TrialChanges, wanted)

    def step(tx: Transaction) -> Done:
        intervene.intervene(tx, project, name, number, changes, who.name)
        return Done(said, f"{number}")

    return step


def _changed(project: str, name: str, who: Principal, said: str, **wanted: Any) -> Step:
    changes = _checked(StudyChanges, wanted)

    def step(tx: Transaction) -> Done:
        change.change(tx, project, name, changes, who.name)
        return Done(said, name)

    return step


def _enqueued(form: Form, project: str, name: str, who: Principal) -> Step:
    candidates = typed.candidates(form.typed("configs"))

    def step(tx: Transaction) -> Done:
        added = enqueue.enqueue(tx, project, name, candidates, who.name)
        return Done(_told(added), f"{name}/trials/{added[0].number}" if len(added) == 1 else f"{name}#trials")

    return step


def _retried(tx: Transaction, project: str, name: str, who: Principal) -> Done:
    count = intervene.retry_failed(tx, project, name, who.name)
    verb = "is" if count == 1 else "are"
    return Done(f"{many(count, 'trial')} {verb} tried again." if count else "No trial has failed.", name)


def _told(added: list[Added]) -> str:
    new = [each.number for each in added if each.is_new]
    known = sorted({each.number for each in added if not each.is_new})
    said = [f"Added {many(len(new), 'trial')}: {_listed(new)}."] if new else []
    said += [f"Known already: {_listed(known)}."] if known else []
    return " ".join(said)


def _listed(numbers: list[int], most: int = 10) -> str:
    more = ["…"] if len(numbers) > most else []
    return ", ".join([*map(str, numbers[:most]), *more])


def _deleted(form: Form, project: str, name: str, who: Principal) -> Step:
    if form.one("name") != name:
        raise InvalidRequest(f"Nothing was deleted. To delete this study type its name: {name}")
    is_purge = bool(form.all("purge"))
    if is_purge:
        PURGING.insist(who)
    remove = change.purge if is_purge else change.archive

    def step(tx: Transaction) -> Done:
        remove(tx, project, name, who.name)
        return Done("Deleted.", "../", leaves=True)

    return step


def _checked(kind: type[BaseModel], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes as the interface takes them. Raises InvalidRequest."""
    try:
        sent = kind.model_validate(wanted)
    except ValidationError as error:
        raise InvalidRequest(f"{faults(error)}.") from error
    return {name: getattr(sent, name) for name in sent.model_fields_set}


def _unknown(form: Form) -> InvalidRequest:
    return InvalidRequest(f"No form here does “{form.one('do')[:40]}”. Load the page again.")
