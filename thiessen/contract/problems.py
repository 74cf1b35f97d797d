"""Errors on the wire: RFC 9457 problem details."""

from thiessen.contract.words import Answer


class Problem(Answer):
    """What happened, to which thing, what to do. `type` is stable; the sentences may get better."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None  # to quote: the server's log has it too
