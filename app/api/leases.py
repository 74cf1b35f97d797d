"""Leases over HTTP: the worker's protocol."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.api import wire
from app.api.problems import documented
from app.gate import WORK
from app.house import TheHouse
from app.lifecycle import report
from app.lifecycle.lease import Wish
from app.lifecycle.lease import lease as lease_trial
from thiessen import contract

router = APIRouter(tags=["leases"], dependencies=[WORK])

LeaseId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="The lease, as it was given.")]
ERRORS = documented(HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
AWAY = documented(HTTPStatus.SERVICE_UNAVAILABLE)


@router.post(
    "/leases",
    response_model=contract.Lease,
    responses={
        204: {"description": "Nothing to train now; ask again later."},
        **ERRORS,
        **AWAY,
    },
)
def lease(request: contract.LeaseRequest, house: TheHouse) -> contract.Lease | Response:
    """Give a worker a trial to train."""
    wish = Wish(
        tasks=request.tasks,
        studies=request.studies,
        lease_for=house.lease_for,
        deaf_until=house.hearing.deaf_until(),
    )
    leased = lease_trial(house.store, wire.runner(request), wish)
    if leased is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return wire.lease(leased, house.lease_for.total_seconds())


@router.post("/leases/{lease_id}/heartbeat", responses=ERRORS)
def heartbeat(lease_id: LeaseId, sent: contract.Heartbeat, house: TheHouse) -> contract.HeartbeatAnswer:
    """Renew a lease and keep the new points of the learning curve."""
    points = [point.model_dump() for point in sent.reports]
    expires_at = report.heartbeat(house.store, lease_id, points, house.lease_for)
    return contract.HeartbeatAnswer(verdict="continue", expires_at=expires_at)


@router.post("/leases/{lease_id}/complete", status_code=HTTPStatus.NO_CONTENT, responses=ERRORS)
def complete(lease_id: LeaseId, outcome: contract.Outcome, house: TheHouse) -> None:
    """End an attempt with its result; sending the same again is harmless."""
    report.complete(house.store, lease_id, wire.result(outcome))


@router.post("/leases/{lease_id}/fail", status_code=HTTPStatus.NO_CONTENT, responses=ERRORS)
def fail(lease_id: LeaseId, failure: contract.Failure, house: TheHouse) -> None:
    """End an attempt with a fault; the trial is tried again while it has attempts."""
    report.fail(house.store, lease_id, wire.fault(failure))


@router.post("/leases/{lease_id}/release", status_code=HTTPStatus.NO_CONTENT, responses=ERRORS)
def release(lease_id: LeaseId, house: TheHouse) -> None:
    """Give a trial back unfinished; the attempt is not used up."""
    report.release(house.store, lease_id)
