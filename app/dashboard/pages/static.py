"""The files that pages load."""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from app.dashboard import static_files

KEPT: Final = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}

router = APIRouter()


@router.get("/static/{digest}/{name}")
def static(digest: str, name: str, request: Request) -> Response:
    found = static_files.file(name)
    if found is None or found.digest != digest:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = KEPT | {"Content-Encoding": "gzip"}
        return Response(found.zipped, media_type=found.kind, headers=headers)
    return Response(found.content, media_type=found.kind, headers=KEPT)
