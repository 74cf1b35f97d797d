"""Answers whose body is ready: nothing is validated or copied a second time."""

from http import HTTPStatus

from fastapi import Response

from app.domain.reply import Reply
from thiessen.contract.words import Answer


def answer(body: Answer, status: int = HTTPStatus.OK) -> Response:
    """Return it as JSON."""
    return Response(body.model_dump_json(by_alias=True), status_code=status, media_type="application/json")


def replied(reply: Reply) -> Response:
    """Return a reply that was kept, or has just been made."""
    return Response(reply.body, status_code=reply.status, media_type="application/json")


def nothing() -> Response:
    """Return that it was done."""
    return Response(status_code=HTTPStatus.NO_CONTENT)
