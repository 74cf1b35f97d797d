"""The pages of the fleet and of each worker, and the one button that they have."""

from functools import partial
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from fastapi.responses import RedirectResponse, Response

from app.dashboard.rendering import missing, rendered
from app.dashboard.summaries.fleet import read_fleet, read_worker
from app.dashboard.visit import TheVisit, Visit
from app.domain.access import Scope
from app.domain.errors import WorkerNotFound
from app.gate import READ, Reach, needs
from app.house import House, TheHouse
from app.lifecycle import register
from thiessen.contract.words import Name

router = APIRouter()

ADMIN: Final = needs(Scope.ADMIN, Reach.SERVER)
WorkerName = Annotated[Name, Path()]


@router.get("/workers", dependencies=[READ])
def fleet(house: TheHouse, visit: TheVisit, request: Request) -> Response:
    server = str(request.base_url).rstrip("/")
    return rendered("fleet.html", read_fleet(house, visit.project, visit.principal, server), visit)


@router.get("/workers/{name}", dependencies=[READ])
def worker(name: str, house: TheHouse, visit: TheVisit) -> Response:
    try:
        page = read_worker(house, visit.project, visit.principal, name)
    except WorkerNotFound:
        return missing(f"No worker named “{name}” has registered.", visit)
    return rendered("worker.html", page, visit)


@router.post("/workers/{name}/drain", dependencies=[ADMIN])
async def drain(name: WorkerName, house: TheHouse, visit: TheVisit) -> Response:
    return await _drained(house, visit, name, is_draining=True)


@router.post("/workers/{name}/go-on", dependencies=[ADMIN])
async def go_on(name: WorkerName, house: TheHouse, visit: TheVisit) -> Response:
    return await _drained(house, visit, name, is_draining=False)


async def _drained(house: House, visit: Visit, name: str, *, is_draining: bool) -> Response:
    await house.store.written(partial(register.drain, name=name, is_draining=is_draining))
    return RedirectResponse(f"{visit.home}workers#worker-{name}", HTTPStatus.SEE_OTHER)
