"""Errors as problem+json: what happened, to which thing, what to do."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from app.domain.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    Refusal,
    ReplayUnavailable,
    StrategyUnavailable,
    TooManyRequests,
    Unauthorized,
)
from app.lifecycle.follow import TooManyFollowers
from app.logs import request_id
from app.storage import DatabaseUnavailable, ReadTooLong
from thiessen.contract import Problem
from thiessen.contract.faults import named
from thiessen.search.strategy import StrategyError
from thiessen.space import SpaceError

TYPE_PREFIX = "urn:thiessen:"
MOST_FAULTS = 5  # of one request told in one answer
LONGEST_DETAIL = 10_000  # characters; a detail may repeat what was sent
RETRY_SECONDS = 2
UNREADABLE = (
    "The body cannot be read as JSON: it is not UTF-8, is nested too deeply, or has a number of thousands of "
    "digits. See /docs for every field."
)
STATUSES: dict[type[Refusal], HTTPStatus] = {  # any other is 422
    Unauthorized: HTTPStatus.UNAUTHORIZED,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
}


_SCHEMA: Final = Problem.model_json_schema()


def documented(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of the errors that a route may answer."""
    return {
        int(status): {
            "description": status.phrase,
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


TURNED_AWAY: Final = documented(HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
"""Of every route that needs to know who asks."""


def describe_problems(app: FastAPI) -> None:
    """Have the OpenAPI document say once what a problem is; routes refer to it."""
    usual = app.openapi

    def openapi() -> dict[str, Any]:
        document = usual()
        document["components"]["schemas"]["Problem"] = _SCHEMA
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI has one do it


def problem(status: int, kind: str, detail: str, **headers: str) -> Response:
    """Return a problem document as an answer."""
    document = Problem(
        type=TYPE_PREFIX + kind,
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]} ...",
        request_id=request_id.get(),
    )
    return Response(
        document.model_dump_json(exclude_none=True),
        status_code=status,
        media_type="application/problem+json",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def answer_with_problems(app: FastAPI) -> None:
    """Make every error of `app` a problem document; a fault that has none is answered by `Watched`."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(SpaceError, _space_refused)
    app.add_exception_handler(StrategyError, _strategy_refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(StrategyUnavailable, _thinking)
    app.add_exception_handler(ReplayUnavailable, _replaying)
    app.add_exception_handler(DatabaseUnavailable, unavailable)
    app.add_exception_handler(ReadTooLong, _too_long)
    app.add_exception_handler(TooManyFollowers, _crowded)


def refused(refusal: Refusal) -> Response:
    """Return the problem document of a refusal."""
    status = next(
        (status for kind, status in STATUSES.items() if isinstance(refusal, kind)),
        HTTPStatus.UNPROCESSABLE_ENTITY,
    )
    headers = {}
    if isinstance(refusal, Unauthorized):
        headers["WWW_Authenticate"] = 'Bearer realm="thiessen"'
    if isinstance(refusal, TooManyRequests):
        headers["Retry_After"] = str(refusal.seconds)
    return problem(status, refusal.type, str(refusal), **headers)


def _refused(request: Request, error: Exception) -> Response:
    del request
    return refused(cast("Refusal", error))


def _space_refused(request: Request, error: Exception) -> Response:
    del request
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidRequest.type, f"The space is wrong: {error}")


def _strategy_refused(request: Request, error: Exception) -> Response:
    del request
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidRequest.type, f"The strategy is wrong: {error}")


def _invalid(request: Request, error: Exception) -> Response:
    faults: Sequence[dict[str, Any]] = getattr(error, "errors", list)()
    detail = _not_json(request, faults) or _told(faults)
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY, InvalidRequest.type, f"{detail} See /docs for every field."
    )


def _not_json(request: Request, faults: Sequence[dict[str, Any]]) -> str | None:
    """Say so when the body could not be read as JSON at all."""
    kind = request.headers.get("content-type", "")
    if faults[0]["loc"][0] == "body" and kind.partition(";")[0] != "application/json":
        return f"The header Content-Type is application/json for a body; it was {kind or 'missing'!r}."
    for fault in faults:
        if fault["type"] == "json_invalid":
            where = "" if fault["loc"] == ("body",) else f" at character {fault['loc'][-1]}"
            return f"The body is not JSON: {fault['ctx']['error']}{where}."
    return None


def _told(faults: Sequence[dict[str, Any]]) -> str:
    found = named(faults)
    told = [f"{_place(place)}: {said}" for place, said in found[:MOST_FAULTS]]
    if len(found) > MOST_FAULTS:
        told.append(f"and {len(found) - MOST_FAULTS} more")
    return "; ".join(told) + "."


def _place(location: Sequence[str | int]) -> str:
    return ".".join(str(part)[:100] for part in location if part != "body") or "body"


def _http(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", HTTPStatus.INTERNAL_SERVER_ERROR)
    if status == HTTPStatus.BAD_REQUEST:  # what FastAPI says of a body that its parser gives up on
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidRequest.type, UNREADABLE)
    details = {
        HTTPStatus.NOT_FOUND: f"Nothing is at {request.url.path}. See /docs for what there is.",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.method} is not for {request.url.path}. See /docs.",
    }
    detail = details.get(status, str(getattr(error, "detail", "")))
    kind = HTTPStatus(status).phrase.lower().replace(" ", "-")
    headers = dict(getattr(error, "headers", None) or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED and (methods := _methods(request)):
        headers["Allow"] = ", ".join(methods)
    return problem(status, kind, detail, **headers)


def _methods(request: Request) -> list[str]:
    """Return all that the path is for: starlette says only those of the first route that has it."""
    return [
        method.upper()
        for template, calls in request.app.openapi()["paths"].items()
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), request.url.path)
        for method in calls
    ]


def _thinking(request: Request, error: Exception) -> Response:
    del request
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "strategy-unavailable", str(error), Retry_After=str(RETRY_SECONDS)
    )


def _crowded(request: Request, error: Exception) -> Response:
    del request
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "too-many-streams", str(error), Retry_After=str(RETRY_SECONDS)
    )


def _replaying(request: Request, error: Exception) -> Response:
    del request
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "replay-unavailable", str(error), Retry_After=str(RETRY_SECONDS)
    )


def unavailable(request: Request, error: Exception) -> Response:
    """Return the problem document of a database that does not answer."""
    request.app.state.house.hearing.interrupt()
    detail = f"{error} Whether this request was stored is not sure; send it again."
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "database-unavailable", detail, Retry_After=str(RETRY_SECONDS)
    )


def _too_long(request: Request, error: Exception) -> Response:
    del request
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "read-too-long", str(error), Retry_After=str(RETRY_SECONDS)
    )
