"""The pages of the tokens and the projects, for who manages the server."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from app.dashboard.rendering import rendered
from app.dashboard.sent import Fault, TheForm, faults, number
from app.dashboard.summaries.settings import read_projects, read_tokens
from app.dashboard.visit import TheVisit
from app.domain.access import Scope
from app.domain.errors import Conflict, Refusal
from app.domain.project import Quotas
from app.gate import ServerAdmin
from app.house import TheHouse
from app.lifecycle import access, projects
from thiessen.contract import ProjectRequest, TokenRequest

router = APIRouter(prefix="/settings")

After = Annotated[int, Query(ge=0, lt=2**53)]
WRONG: Final = HTTPStatus.UNPROCESSABLE_ENTITY


@router.get("/tokens")
def tokens(house: TheHouse, visit: TheVisit, who: ServerAdmin, after: After = 0) -> Response:
    return rendered("tokens.html", read_tokens(house, who, after), visit)


@router.post("/tokens")
def create_token(house: TheHouse, visit: TheVisit, who: ServerAdmin, form: TheForm) -> Response:
    try:
        sent = TokenRequest.model_validate(
            {
                "name": form.one("name"),
                "scopes": list(form.all("scopes")),
                "project": form.one("project") or None,
                "days": number(form.one("days")),
            }
        )
        made = house.store.write(
            lambda tx: access.create(
                tx,
                who,
                name=sent.name,
                scopes={Scope(scope) for scope in sent.scopes},
                project=sent.project,
                valid_for=None if sent.days is None else timedelta(days=sent.days),
            )
        )
    except ValidationError as error:
        page = read_tokens(house, who, form=form, faults=faults(error))
        return rendered("tokens.html", page, visit, WRONG)
    except Refusal as refusal:
        page = read_tokens(house, who, form=form, faults=[Fault("name", str(refusal))])
        return rendered("tokens.html", page, visit, _status(refusal))
    # In this answer alone, and under no address: to load the page again is to ask for the name a second time.
    page = read_tokens(house, who, made=(made[0].name, made[1]))
    return rendered("tokens.html", page, visit, HTTPStatus.CREATED)


@router.post("/tokens/{name}/revoke")
def revoke_token(name: str, house: TheHouse, visit: TheVisit, who: ServerAdmin, form: TheForm) -> Response:
    if form.one("name") != name:
        wrong = Fault(f"revoke-{name}", f"Write {name} to revoke it; nothing was done.")
        return rendered("tokens.html", read_tokens(house, who, faults=[wrong]), visit, WRONG)
    house.store.write(lambda tx: access.revoke(tx, who, name))
    return RedirectResponse(f"{visit.root}settings/tokens", HTTPStatus.SEE_OTHER)


@router.get("/projects")
def list_projects(house: TheHouse, visit: TheVisit, who: ServerAdmin, after: After = 0) -> Response:
    return rendered("projects.html", read_projects(house, who, after), visit)


@router.post("/projects")
def create_project(house: TheHouse, visit: TheVisit, who: ServerAdmin, form: TheForm) -> Response:
    try:
        sent = ProjectRequest.model_validate(
            {
                "name": form.one("name"),
                "max_running": number(form.one("max_running")),
                "max_studies": number(form.one("max_studies")),
            }
        )
        quotas = Quotas(max_running=sent.max_running, max_studies=sent.max_studies)
        house.store.write(lambda tx: projects.create(tx, who, sent.name, quotas))
    except ValidationError as error:
        page = read_projects(house, who, form=form, faults=faults(error))
        return rendered("projects.html", page, visit, WRONG)
    except Refusal as refusal:
        page = read_projects(house, who, form=form, faults=[Fault("name", str(refusal))])
        return rendered("projects.html", page, visit, _status(refusal))
    return RedirectResponse(f"{visit.root}settings/projects", HTTPStatus.SEE_OTHER)


def _status(refusal: Refusal) -> HTTPStatus:
    return HTTPStatus.CONFLICT if isinstance(refusal, Conflict) else WRONG
