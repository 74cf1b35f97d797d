"""The client: the same verbs as the HTTP interface, with connections kept and errors that teach."""

import re
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote as quoted

import httpx

from thiessen import errors
from thiessen.contract import (
    CONTRACT,
    CONTRACT_HEADER,
    Best,
    BestConfig,
    Diverged,
    Failure,
    Heartbeat,
    HeartbeatAnswer,
    Lease,
    LeaseRequest,
    Loss,
    Point,
    Problem,
    Study,
    StudySpec,
    Trial,
)
from thiessen.contract.words import Answer, Request

A = TypeVar("A", bound=Answer)

TOKEN: Final = re.compile(r"thiessen_[A-Za-z0-9_-]+")

LATER: Final = {httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS}
RETRY_PAUSES: Final = (0.1, 0.4, 1.6)  # seconds; every call is idempotent, so asking again is harmless


class Client:
    """Speaks to a server. Raises ServerUnreachable, ServerFailed or a kind of Refused.

    >>> with Client("http://127.0.0.1:8000") as client:
    ...     client.best("digits-sgd", top=3)
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_seconds: float = 30.0,
        retry_pauses: Sequence[float] = RETRY_PAUSES,
    ) -> None:
        if not _is_address(url):
            raise errors.ServerUnreachable(f"{url!r} is not an address such as http://127.0.0.1:8000.")
        self.url = url.rstrip("/")
        self._retry_pauses = retry_pauses
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1",
            timeout=timeout_seconds,
            headers={CONTRACT_HEADER: str(CONTRACT), **_authorization(token)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def create_study(self, spec: StudySpec) -> Study:
        """Create the study, or return the one that is the same. Raises StudyExists, InvalidRequest."""
        return self._send(Study, "POST", "/studies", spec)

    def study(self, name: str) -> Study:
        """Return the study. Raises StudyNotFound."""
        return self._send(Study, "GET", f"/studies/{_segment(name)}")

    def best(self, name: str, *, top: int = 10) -> list[BestConfig]:
        """Return the best configs of a study, best first. Raises StudyNotFound."""
        return self._send(Best, "GET", f"/studies/{_segment(name)}/best?top={top}").best

    def export(self, name: str) -> bytes:
        """Return everything of a study as one JSON document. Raises StudyNotFound."""
        return self._request("GET", f"/studies/{_segment(name)}/export").content

    def trial(self, name: str, number: int) -> Trial:
        """Return a trial with its attempts and reports. Raises StudyNotFound, TrialNotFound."""
        return self._send(Trial, "GET", f"/studies/{_segment(name)}/trials/{number}")

    def lease(self, request: LeaseRequest) -> Lease | None:
        """Return a trial to train, or None when there is nothing to do now."""
        answer = self._request("POST", "/leases", request)
        return None if answer.status_code == httpx.codes.NO_CONTENT else _read(Lease, answer)

    def heartbeat(self, lease_id: str, reports: list[Point]) -> HeartbeatAnswer:
        """Say that the attempt goes on, with its new points. Raises LeaseLost."""
        return self._send(
            HeartbeatAnswer, "POST", f"/leases/{lease_id}/heartbeat", Heartbeat(reports=reports)
        )

    def complete(self, lease_id: str, outcome: Loss | Diverged) -> None:
        """End the attempt with its outcome. Raises LeaseLost, ResultDiffers."""
        self._request("POST", f"/leases/{lease_id}/complete", outcome)

    def fail(self, lease_id: str, failure: Failure) -> None:
        """End the attempt with a fault. Raises LeaseLost, ResultDiffers."""
        self._request("POST", f"/leases/{lease_id}/fail", failure)

    def release(self, lease_id: str) -> None:
        """Give the trial back unfinished; the attempt is not used up. Raises LeaseLost."""
        self._request("POST", f"/leases/{lease_id}/release")

    def is_ready(self) -> bool:
        """Return whether the server answers and its database does."""
        try:
            return self._http.get(f"{self.url}/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _send(self, answer: type[A], method: str, path: str, body: Request | None = None) -> A:
        return _read(answer, self._request(method, path, body))

    def _request(self, method: str, path: str, body: Request | None = None) -> httpx.Response:
        content: dict[str, Any] = {}
        if body is not None:
            content = {"content": body.model_dump_json(), "headers": {"Content-Type": "application/json"}}
        answer = self._answer(method, path, content)
        if answer.is_success:
            return answer
        raise _error(answer)

    def _answer(self, method: str, path: str, content: dict[str, Any]) -> httpx.Response:
        for pause in (*self._retry_pauses, None):
            try:
                answer = self._http.request(method, path, **content)
            except httpx.TransportError as error:
                if pause is None:
                    raise errors.ServerUnreachable(
                        f"no answer from {self.url}: {error}. Is the server running there? (thiessen serve)"
                    ) from error
            else:
                if answer.status_code not in LATER or pause is None:
                    return answer
            time.sleep(pause)
        raise AssertionError("the last round returns or raises")


def _is_address(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parsed.scheme in {"http", "https"} and bool(parsed.host)


def _authorization(token: str | None) -> dict[str, str]:
    if token is None:
        return {}
    if not TOKEN.fullmatch(token):
        raise errors.Unauthorized(
            "The token does not look like one: it is `thiessen_` and what follows, without spaces."
        )
    return {"Authorization": f"Bearer {token}"}


def _segment(name: str) -> str:
    return quoted(name, safe="")


def _read(kind: type[A], answer: httpx.Response) -> A:
    try:
        return kind.model_validate_json(answer.content)
    except ValueError:
        raise _not_ours(answer) from None


def _error(answer: httpx.Response) -> errors.ThiessenError:
    try:
        problem = Problem.model_validate_json(answer.content)
    except ValueError:
        return _not_ours(answer)
    if answer.is_server_error:
        told = f" (request {problem.request_id})" if problem.request_id else ""
        return errors.ServerFailed(problem.detail + told)
    return errors.refusal(problem.type.rsplit(":", 1)[-1], problem.detail)


def _not_ours(answer: httpx.Response) -> errors.ServerFailed:
    return errors.ServerFailed(
        f"{answer.request.url} answered {answer.status_code} with something else than was asked for. "
        "Is this the address of a Thiessen server, without a path?"
    )
