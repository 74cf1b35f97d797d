"""The client: the same verbs as the HTTP interface, with connections kept and errors that teach."""

import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import quote as quoted

import httpx

from thiessen import errors
from thiessen.contract import (
    CONTRACT,
    CONTRACT_HEADER,
    Added,
    AddedTrials,
    Best,
    BestConfig,
    Comparison,
    ComparisonChanges,
    ComparisonReport,
    Comparisons,
    ComparisonSpec,
    Cost,
    Failure,
    Figure,
    Heartbeat,
    HeartbeatAnswer,
    History,
    Lease,
    LeaseRequest,
    Leases,
    NewTrial,
    NewTrials,
    Outcome,
    Point,
    Problem,
    Profile,
    Studies,
    Study,
    StudyChanges,
    StudySpec,
    TaskAnswer,
    Tasks,
    Trial,
    TrialChanges,
    WorkerAnswer,
    WorkerChanges,
    Workers,
    WorkerSpec,
)
from thiessen.contract.words import Answer, Request
from thiessen.study import DEFAULT_PROJECT

if TYPE_CHECKING:
    from thiessen.figures import Wanted
    from thiessen.space import Open, Space
    from thiessen.study import Direction
    from thiessen.study import Study as OpenStudy

A = TypeVar("A", bound=Answer)

TOKEN: Final = re.compile(r"thiessen_[A-Za-z0-9_-]+")

LATER: Final = {httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS}
LONGEST_PAUSE: Final = 30.0  # seconds that a server may ask for
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
        project: str = DEFAULT_PROJECT,
        timeout_seconds: float = 30.0,
        retry_pauses: Sequence[float] = RETRY_PAUSES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not _is_address(url):
            raise errors.ServerUnreachable(f"{url!r} is not an address such as http://127.0.0.1:8000.")
        self.url = url.rstrip("/")
        self.project = project
        self._retry_pauses = retry_pauses
        self._timeout_seconds = timeout_seconds
        self._http = httpx.Client(
            timeout=timeout_seconds,
            headers={CONTRACT_HEADER: str(CONTRACT), **_authorization(token)},
            transport=transport,
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
        return self._send(Study, "POST", self._studies(), spec)

    def open_study(
        self,
        name: str,
        space: "Space | Open | None" = None,
        *,
        trials: int | None = None,
        strategy: str | Mapping[str, Any] | None = None,
        seed: int | None = None,
        direction: "Direction | None" = None,
        stopping: Mapping[str, Any] | None = None,
    ) -> "OpenStudy":
        """Begin a study whose trials this program tries, or go on with one; others may try them beside it.

        With nothing but its name a study is opened as it is. A space of "open" is made by what its trials ask
        for. The arguments are those of
        `thiessen.open_study`. Raises StudyExists where the server has another study of this name.
        """
        from thiessen.served import opened

        terms = {"strategy": strategy, "seed": seed, "direction": direction, "stopping": stopping}
        given = {term: each for term, each in terms.items() if each is not None}
        return opened(self, name, space, trials, given)

    def studies(
        self, *, state: str | None = None, tag: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Studies:
        """Return a page of the project's studies, newest first; its `next` is the cursor of the following."""
        path = self._studies()
        return self._send(Studies, "GET", path, state=state, tag=tag, limit=limit, cursor=cursor)

    def each_study(self, *, state: str | None = None, tag: str | None = None) -> Iterator[Study]:
        """Yield the project's studies, newest first."""
        cursor = None
        while True:
            page = self.studies(state=state, tag=tag, cursor=cursor)
            yield from page.studies
            if page.next is None:
                return
            cursor = page.next

    def study(self, name: str) -> Study:
        """Return the study. Raises StudyNotFound."""
        return self._send(Study, "GET", self._studies(name))

    def change_study(self, name: str, changes: StudyChanges) -> Study:
        """Pause, resume, stop or extend a study, or write on it. Raises StudyNotFound, StudyEnded."""
        return self._send(Study, "PATCH", self._studies(name), changes)

    def delete_study(self, name: str, *, purge: bool = False) -> None:
        """Stop a study and hide it, or remove it with its history. Raises StudyNotFound."""
        self._request("DELETE", self._studies(name), purge="true" if purge else None)

    def best(self, name: str, *, top: int = 10) -> list[BestConfig]:
        """Return the best configs of a study, best first. Raises StudyNotFound."""
        return self._send(Best, "GET", self._studies(name, "best"), top=top).best

    def history(self, name: str, *, most: int | None = None) -> History:
        """Return the finished trials of a study as columns, all or at most so many. Raises StudyNotFound."""
        return self._send(History, "GET", self._studies(name, "history"), most=most)

    def figure(self, name: str, figure: str, wanted: "Wanted | None" = None) -> dict[str, Any]:
        """Return a figure of a study as plotly's JSON. Raises StudyNotFound, InvalidRequest."""
        chosen = {} if wanted is None else vars(wanted)
        drawn = self._send(Figure, "GET", self._studies(name, "figures", figure), **chosen)
        return drawn.model_dump()

    def best_of_all(self, *, top: int = 10) -> list[BestConfig]:
        """Return the best config of each study, those of the newest studies first."""
        return self._send(Best, "GET", "/best", top=top).best

    def create_comparison(self, spec: ComparisonSpec) -> Comparison:
        """Create the comparison with its searches, or return the one that is the same.

        Raises ComparisonExists, StudyExists, InvalidRequest.
        """
        return self._send(Comparison, "POST", self._in_project("comparisons"), spec)

    def plan_comparison(self, spec: ComparisonSpec) -> Cost:
        """Return what a comparison would cost; nothing is created. Raises InvalidRequest."""
        return self._send(Cost, "POST", self._in_project("comparisons"), spec, plan="true")

    def comparison(self, name: str) -> Comparison:
        """Return the comparison with each of its searches. Raises ComparisonNotFound."""
        return self._send(Comparison, "GET", self._in_project("comparisons", name))

    def comparisons(
        self, *, state: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Comparisons:
        """Return a page of the project's comparisons without their searches, newest first."""
        path = self._in_project("comparisons")
        return self._send(Comparisons, "GET", path, state=state, limit=limit, cursor=cursor)

    def each_comparison(self, *, state: str | None = None) -> Iterator[Comparison]:
        """Yield the project's comparisons without their searches, newest first."""
        cursor = None
        while True:
            page = self.comparisons(state=state, cursor=cursor)
            yield from page.comparisons
            if page.next is None:
                return
            cursor = page.next

    def change_comparison(self, name: str, changes: ComparisonChanges) -> Comparison:
        """Pause, resume or stop all of it, give it more, or write on it.

        Raises ComparisonNotFound, ComparisonEnded, InvalidRequest.
        """
        return self._send(Comparison, "PATCH", self._in_project("comparisons", name), changes)

    def delete_comparison(self, name: str, *, purge: bool = False) -> None:
        """Stop a comparison and hide it, or remove it with its studies. Raises ComparisonNotFound."""
        path = self._in_project("comparisons", name)
        self._request("DELETE", path, purge="true" if purge else None)

    def report(self, name: str) -> ComparisonReport:
        """Return what came of a comparison. Raises ComparisonNotFound."""
        return self._send(ComparisonReport, "GET", self._in_project("comparisons", name, "report"))

    def report_as(self, name: str, form: str) -> str:
        """Return what came of a comparison as markdown, latex, csv or json.

        Raises ComparisonNotFound, InvalidRequest.
        """
        return self._request("GET", self._in_project("comparisons", name, "report"), format=form).text

    def comparison_figure(self, name: str, figure: str, theme: str = "light") -> dict[str, Any]:
        """Return a figure of a comparison as plotly's JSON. Raises ComparisonNotFound, InvalidRequest."""
        path = self._in_project("comparisons", name, "figures", figure)
        return self._send(Figure, "GET", path, theme=theme).model_dump()

    def profile(self, names: Sequence[str], over: str = "updates") -> Profile:
        """Return performance profiles over several comparisons. Raises ComparisonNotFound."""
        path = self._in_project("profile")
        return self._send(Profile, "GET", path, comparison=names, over=over)

    def add_trials(self, name: str, trials: Sequence[NewTrial]) -> list[Added]:
        """Add configs to try, and finished trials to learn from: all or none.

        Raises StudyNotFound, StudyEnded, InvalidRequest.
        """
        path = self._studies(name, "trials")
        # With a key, so that what is sent again after a lost answer is added once, whatever the study allows.
        return self._send(AddedTrials, "POST", path, NewTrials(trials=list(trials)), key=token_hex(16)).trials

    def export(self, name: str, form: str = "json") -> bytes:
        """Return all of a study: everything as json, or a line for each trial as csv or parquet.

        Raises StudyNotFound, InvalidRequest.
        """
        return self._request("GET", self._studies(name, "export"), format=form).content

    def trial(self, name: str, number: int) -> Trial:
        """Return a trial with its attempts and reports. Raises StudyNotFound, TrialNotFound."""
        return self._send(Trial, "GET", self._studies(name, "trials", str(number)))

    def change_trial(self, name: str, number: int, changes: TrialChanges) -> Trial:
        """Cancel a trial, try a failed one again, or write on it. Raises TrialNotFound, MoveRefused."""
        return self._send(Trial, "PATCH", self._studies(name, "trials", str(number)), changes)

    def register(self, name: str, worker: WorkerSpec) -> WorkerAnswer:
        """Say what a worker has and can train."""
        return self._send(WorkerAnswer, "PUT", _path("workers", name), worker)

    def change_worker(self, name: str, changes: WorkerChanges) -> WorkerAnswer:
        """Tell a worker to lease no more, or to go on. Raises WorkerNotFound."""
        return self._send(WorkerAnswer, "PATCH", _path("workers", name), changes)

    def workers(self) -> list[WorkerAnswer]:
        """Return every worker, the last seen first."""
        return self._send(Workers, "GET", "/workers").workers

    def tasks(self) -> list[TaskAnswer]:
        """Return every task that some worker offers."""
        return self._send(Tasks, "GET", "/tasks").tasks

    def task(self, name: str) -> TaskAnswer:
        """Return what a task accepts, and spaces to begin with. Raises TaskNotFound."""
        return self._send(TaskAnswer, "GET", _path("tasks", name))

    def lease(self, request: LeaseRequest) -> list[Lease]:
        """Return trials to train, none when there are none in time. Raises WorkerUnknown, LeaseLost."""
        return self._send(Leases, "POST", "/leases", request, patience=request.wait_seconds).leases

    def heartbeat(self, lease_id: str, reports: list[Point], log_tail: str | None = None) -> HeartbeatAnswer:
        """Say that the attempt goes on, with what is new of it, and return the orders. Raises LeaseLost."""
        beat = Heartbeat(reports=reports, log_tail=log_tail)
        return self._send(HeartbeatAnswer, "POST", _path("leases", lease_id, "heartbeat"), beat)

    def complete(self, lease_id: str, outcome: Outcome) -> None:
        """End the attempt with its outcome. Raises LeaseLost, ResultDiffers."""
        self._request("POST", _path("leases", lease_id, "complete"), outcome)

    def fail(self, lease_id: str, failure: Failure) -> None:
        """End the attempt with a fault. Raises LeaseLost, ResultDiffers."""
        self._request("POST", _path("leases", lease_id, "fail"), failure)

    def release(self, lease_id: str) -> None:
        """Give the trial back unfinished; the attempt is not used up. Raises LeaseLost."""
        self._request("POST", _path("leases", lease_id, "release"))

    def is_ready(self) -> bool:
        """Return whether the server answers and its database does."""
        try:
            return self._http.get(f"{self.url}/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _studies(self, *parts: str) -> str:
        """Return the path of the project's studies, or of something below them."""
        return self._in_project("studies", *parts)

    def _in_project(self, *parts: str) -> str:
        """Return the path of something of the project."""
        return _path(*parts) if self.project == DEFAULT_PROJECT else _path("projects", self.project, *parts)

    def _send(
        self,
        answer: type[A],
        method: str,
        path: str,
        body: Request | None = None,
        patience: float = 0.0,
        key: str | None = None,
        **query: str | int | Sequence[str] | None,
    ) -> A:
        return _read(answer, self._request(method, path, body, patience, key, **query))

    def _request(
        self,
        method: str,
        path: str,
        body: Request | None = None,
        patience: float = 0.0,
        key: str | None = None,
        **query: str | int | Sequence[str] | None,
    ) -> httpx.Response:
        headers = {} if body is None else {"Content-Type": "application/json"}
        request = self._http.build_request(
            method,
            f"{self.url}/api/v1{path}",  # whole, and without an empty query: httpx reads it once
            params={name: value for name, value in query.items() if value is not None} or None,
            content=None if body is None else body.model_dump_json(exclude_unset=True, by_alias=True),
            headers=headers if key is None else {**headers, "Idempotency-Key": key},
            timeout=self._timeout_seconds + patience,
        )
        answer = self._answer(request)
        if answer.is_success:
            return answer
        raise _error(answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        for pause in (*self._retry_pauses, None):
            asked_for = 0.0
            try:
                answer = self._http.send(request)
            except httpx.TransportError as error:
                if pause is None:
                    raise errors.ServerUnreachable(
                        f"no answer from {self.url}: {error}. Is the server running there? (thiessen serve)"
                    ) from error
            else:
                if answer.status_code not in LATER or pause is None:
                    return answer
                asked_for = _asked_for(answer)
            # Not all at once, who were refused together.
            time.sleep(max(pause, asked_for) * random.uniform(0.8, 1.2))
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


def _asked_for(answer: httpx.Response) -> float:
    """Return how many seconds the server asks to wait, within reason."""
    seconds = answer.headers.get("Retry-After", "")
    return min(float(seconds), LONGEST_PAUSE) if seconds.isdecimal() else 0.0


def _path(*parts: str) -> str:
    return "".join(f"/{quoted(part, safe='')}" for part in parts)


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
