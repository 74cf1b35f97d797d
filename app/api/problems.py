"""Errors as problem+json: what happened, to which thing, what to do."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from app.domain.errors import Conflict, InvalidRequest, NotFound, Refusal, StrategyUnavailable
from app.lifecycle.follow import TooManyFollowers
from app.storage import DatabaseUnavailable
from thiessen.contract import Problem
from thiessen.search.strategy import StrategyError
from thiessen.space import SpaceError

TYPE_PREFIX = "urn:thiessen:"
MOST_FAULTS = 5  # of one request told in one answer
RETRY_SECONDS = 2


def documented(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of the errors that a route may answer."""
    return {
        int(status): {
            "description": status.phrase,
            "content": {"application/problem+json": {"schema": Problem.model_json_schema()}},
        }
        for status in statuses
    }


def problem(status: int, kind: str, detail: str, **headers: str) -> Response:
    """Return a problem document as an answer."""
    document = Problem(type=TYPE_PREFIX + kind, title=HTTPStatus(status).phrase, status=status, detail=detail)
    return Response(
        document.model_dump_json(),
        status_code=status,
        media_type="application/problem+json",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def answer_with_problems(app: FastAPI) -> None:
    """Make every error of `app` a problem document."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(SpaceError, _space_refused)
    app.add_exception_handler(StrategyError, _strategy_refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(StrategyUnavailable, _thinking)
    app.add_exception_handler(TooManyFollowers, _crowded)
    app.add_exception_handler(DatabaseUnavailable, _unavailable)
    app.add_exception_handler(Exception, _failed)


def _refused(request: Request, error: Exception) -> Response:
    del request
    statuses = {NotFound: HTTPStatus.NOT_FOUND, Conflict: HTTPStatus.CONFLICT}
    status = next(
        (status for kind, status in statuses.items() if isinstance(error, kind)),
        HTTPStatus.UNPROCESSABLE_ENTITY,
    )
    return problem(status, getattr(error, "type", Refusal.type), str(error))


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
            return f"The body is not JSON: {fault['ctx']['error']} at character {fault['loc'][-1]}."
    return None


def _told(faults: Sequence[dict[str, Any]]) -> str:
    told = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        told.append(f"and {len(faults) - MOST_FAULTS} more")
    return "; ".join(told) + "."


def _place(location: Sequence[str | int]) -> str:
    return ".".join(str(part)[:100] for part in location if part != "body") or "body"


def _http(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", HTTPStatus.INTERNAL_SERVER_ERROR)
    details = {
        HTTPStatus.NOT_FOUND: f"Nothing is at {request.url.path}. See /docs for what there is.",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.method} is not for {request.url.path}. See /docs.",
    }
    detail = details.get(status, str(getattr(error, "detail", "")))
    kind = HTTPStatus(status).phrase.lower().replace(" ", "-")
    return problem(status, kind, detail, **(getattr(error, "headers", None) or {}))


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


def _unavailable(request: Request, error: Exception) -> Response:
    request.app.state.house.hearing.interrupt()
    detail = f"{error} Nothing of this request was stored; send it again."
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "database-unavailable", detail, Retry_After=str(RETRY_SECONDS)
    )


def _failed(request: Request, error: Exception) -> Response:
    del error  # the server's log has it; a stranger need not
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal-error",
        f"The server failed at {request.method} {request.url.path}. Its log says why; please report it.",
    )
