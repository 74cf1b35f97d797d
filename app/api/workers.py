"""Workers, and the tasks that they offer, over HTTP."""

from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response

from app import wire
from app.api.answers import answer
from app.api.paths import TaskName, WorkerName
from app.api.problems import documented
from app.domain.access import Principal, Scope
from app.gate import Reach, needs
from app.house import TheHouse
from app.lifecycle import register
from app.storage import workers
from thiessen import contract

router = APIRouter(tags=["workers"])

Worker = Annotated[Principal, needs(Scope.WORK, Reach.OWN)]
Reader = Annotated[Principal, needs(Scope.READ, Reach.OWN)]
Admin = Annotated[Principal, needs(Scope.ADMIN, Reach.SERVER)]
INVALID = documented(HTTPStatus.UNPROCESSABLE_ENTITY)


@router.put("/workers/{name}", response_model=contract.WorkerAnswer, responses=INVALID)
async def register_worker(
    name: WorkerName, sent: contract.WorkerSpec, house: TheHouse, who: Worker
) -> Response:
    """Say what a worker has and can train; say it again after each start."""
    step = partial(register.register, name=name, who=who, **wire.registration(sent))
    found = await house.store.written(step)
    return answer(wire.worker(found))


@router.patch(
    "/workers/{name}",
    response_model=contract.WorkerAnswer,
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
async def drain_worker(
    name: WorkerName, sent: contract.WorkerChanges, house: TheHouse, who: Admin
) -> Response:
    """Tell a worker to finish what it trains and lease no more, or to go on."""
    del who
    found = await house.store.written(partial(register.drain, name=name, is_draining=sent.is_draining))
    return answer(wire.worker(found))


@router.get("/workers", response_model=contract.Workers, responses=INVALID)
async def list_workers(house: TheHouse, who: Reader) -> Response:
    """List the workers, the last heard first; of a project those that may work for it."""
    found = await house.store.seen(partial(workers.every, project=who.project))
    return answer(contract.Workers(workers=[wire.worker(each) for each in found]))


@router.get("/tasks", response_model=contract.Tasks, responses=INVALID)
async def list_tasks(house: TheHouse, who: Reader) -> Response:
    """List the tasks that workers offer, with their versions, what they accept, and spaces to begin with."""
    offered = await house.store.seen(partial(register.offered, project=who.project))
    return answer(contract.Tasks(tasks=[wire.task(each) for each in offered]))


@router.get(
    "/tasks/{name}",
    response_model=contract.TaskAnswer,
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
)
async def get_task(name: TaskName, house: TheHouse, who: Reader) -> Response:
    """Return a task that workers offer: what it accepts, and spaces to begin with."""
    found = await house.store.seen(partial(register.task, name=name, project=who.project))
    return answer(wire.task(found))
