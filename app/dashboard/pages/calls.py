"""The page of the HTTP interface's calls, and the document that it is made of."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from app.dashboard.rendering import rendered
from app.dashboard.summaries.calls import read_calls
from app.dashboard.visit import TheVisit
from app.gate import READ

router = APIRouter(dependencies=[READ])


@router.get("/docs")
def docs(request: Request, visit: TheVisit) -> Response:
    return rendered("docs.html", read_calls(request.app.openapi()), visit)


@router.get("/openapi.json")
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(request.app.openapi())
