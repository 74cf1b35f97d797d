"""Errors on the wire: RFC 9457 problem details."""

from pydantic import Field

from thiessen.contract.words import Answer


class Problem(Answer):
    """What happened, to which thing, what to do. `type` is stable; the sentences may get better."""

    type: str = Field(description="What kind of error it is, such as `urn:thiessen:study-not-found`.")
    title: str = Field(description="The status in words, such as Not Found.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What happened, to which thing, and what to do.")
    request_id: str | None = Field(default=None, description="To quote: the server's log has it too.")
