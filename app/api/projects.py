"""Projects over HTTP."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.api.answers import replied
from app.api.keys import TheKey
from app.api.paging import Cursor, following
from app.api.paths import Limit
from app.api.problems import documented
from app.domain.project import Project, Quotas
from app.domain.reply import Reply
from app.gate import Reader, ServerAdmin
from app.house import TheHouse
from app.lifecycle import projects
from app.lifecycle.once import once
from app.storage import Transaction
from thiessen import contract
from thiessen.contract.words import Name

router = APIRouter(tags=["projects"])

ProjectName = Annotated[Name, Path(description="The project's name.")]
ERRORS = documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)


@router.post(
    "/projects",
    status_code=HTTPStatus.CREATED,
    response_model=contract.Project,
    responses={
        200: {"model": contract.Project, "description": "The same project exists; here it is."},
        **documented(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY),
    },
)
async def create_project(
    sent: contract.ProjectRequest, house: TheHouse, who: ServerAdmin, key: TheKey
) -> Response:
    """Make a project; the same name and quotas again is the existing one."""

    def step(tx: Transaction) -> Reply:
        quotas = Quotas(max_running=sent.max_running, max_studies=sent.max_studies)
        found, is_new = projects.create(tx, who, sent.name, quotas)
        status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
        return Reply(status, _wire(found).model_dump_json())

    return replied(await house.store.written(lambda tx: once(tx, who, key, step)))


@router.get("/projects", responses=documented(HTTPStatus.UNPROCESSABLE_ENTITY))
async def list_projects(
    house: TheHouse, who: Reader, cursor: Cursor = None, limit: Limit = 100
) -> contract.Projects:
    """List the projects; a token that is bound to one sees only that."""
    page = await house.store.seen(lambda tx: projects.every(tx, who, after=int(cursor or 0), limit=limit))
    return contract.Projects(projects=[_wire(found) for found in page], next=following(page, limit))


@router.get("/projects/{project}", responses=ERRORS)
async def read_project(project: ProjectName, house: TheHouse, who: Reader) -> contract.Project:
    """Return a project with its quotas."""
    return _wire(await house.store.seen(lambda tx: projects.named(tx, who, project)))


@router.patch("/projects/{project}", responses=ERRORS)
async def limit_project(
    project: ProjectName, sent: contract.ProjectPatch, house: TheHouse, who: ServerAdmin
) -> contract.Project:
    """Change the quotas of a project; null removes one."""
    changed = sent.model_dump(exclude_unset=True)
    return _wire(await house.store.written(lambda tx: projects.limit(tx, who, project, changed)))


def _wire(found: Project) -> contract.Project:
    return contract.Project(name=found.name, **vars(found.quotas), created_at=found.created_at)
