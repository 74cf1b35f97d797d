"""What a request was answered, kept so that a repetition is answered the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """The Idempotency-Key of a request, and a digest of its method, path and body."""

    text: str
    request: str


@dataclass(frozen=True)
class Reply:
    """A status and a body."""

    status: int
    body: str
