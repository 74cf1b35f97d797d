"""Leases over HTTP: the worker's protocol."""

import asyncio
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response

from app import meters, wire
from app.api.answers import answer, nothing
from app.api.problems import TURNED_AWAY, documented
from app.api.quick import Quick
from app.domain.access import Principal, Scope
from app.domain.trial import Leased
from app.gate import Reach, needs
from app.house import House, TheHouse
from app.lifecycle import report
from app.lifecycle.lease import Wish
from app.lifecycle.lease import lease as lease_trials
from app.lifecycle.waiting import until
from thiessen import contract

router = APIRouter(
    prefix="/api/v1",
    tags=["leases"],
    responses=TURNED_AWAY,
    route_class=Quick,
    generate_unique_id_function=lambda route: route.name,
)

Worker = Annotated[Principal, needs(Scope.WORK, Reach.OWN)]
LeaseId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="The lease, as it was given.")]
ERRORS = documented(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
AWAY = documented(HTTPStatus.SERVICE_UNAVAILABLE)


@router.post("/leases", response_model=contract.Leases, responses={**ERRORS, **AWAY})
async def lease(sent: contract.LeaseRequest, house: TheHouse, who: Worker) -> Response:
    """Give a worker trials to train; when there are none, wait for some as long as it asks."""
    house.heard.add((sent.worker, who.name))
    loop = asyncio.get_running_loop()
    deadline = loop.time() + sent.wait_seconds
    while True:
        ring = house.waiting.ring()
        leased = await _lease(sent, house, who)
        left = deadline - loop.time()
        if leased or left <= 0 or house.closing.is_set():
            return answer(contract.Leases(leases=[wire.lease(each) for each in leased]))
        with meters.LONG_POLLS.track_inprogress():
            await until(ring, house.closing, left)


async def _lease(sent: contract.LeaseRequest, house: House, who: Principal) -> list[Leased]:
    wish = Wish(
        project=who.project,
        tasks=sent.tasks,
        studies=sent.studies,
        most=sent.max,
        lease_for=wire.lease_for(sent, house.lease_for),
        deaf_until=await house.hearing.deaf_until(),
    )
    return await lease_trials(house.store, house.memory, wire.runner(sent, who.name), wish)


@router.post(
    "/leases/{lease_id}/heartbeat", response_model=contract.HeartbeatAnswer, responses={**ERRORS, **AWAY}
)
async def heartbeat(lease_id: LeaseId, sent: contract.Heartbeat, house: TheHouse, who: Worker) -> Response:
    """Renew a lease, keep the new points of the learning curve, and give orders."""
    points = [point.model_dump() for point in sent.reports]
    beat = await report.heartbeat(house.store, house.judge, lease_id, who, points, sent.log_tail)
    house.heard.add((beat.worker, who.name))
    return answer(wire.beat(beat))


@router.post("/leases/{lease_id}/complete", status_code=HTTPStatus.NO_CONTENT, responses={**ERRORS, **AWAY})
async def complete(lease_id: LeaseId, outcome: contract.Outcome, house: TheHouse, who: Worker) -> Response:
    """End an attempt with its result; sending the same again is harmless."""
    await report.complete(house.store, lease_id, wire.result(outcome), who)
    return nothing()


@router.post("/leases/{lease_id}/fail", status_code=HTTPStatus.NO_CONTENT, responses={**ERRORS, **AWAY})
async def fail(lease_id: LeaseId, failure: contract.Failure, house: TheHouse, who: Worker) -> Response:
    """End an attempt with a fault; the trial is tried again while it has attempts."""
    await report.fail(house.store, lease_id, wire.fault(failure), who)
    return nothing()


@router.post("/leases/{lease_id}/release", status_code=HTTPStatus.NO_CONTENT, responses={**ERRORS, **AWAY})
async def release(lease_id: LeaseId, house: TheHouse, who: Worker) -> Response:
    """Give a trial back unfinished; the attempt is not used up."""
    await report.release(house.store, lease_id, who)
    return nothing()
