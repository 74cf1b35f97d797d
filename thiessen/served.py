"""Who keeps a study on a server: the program takes leases on its trials, as a worker does."""

import logging
import os
import re
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from thiessen import contract
from thiessen.contract import (
    Diverged,
    Failure,
    Lease,
    LeaseRequest,
    NewTrial,
    OfferedTask,
    Outcome,
    Point,
    Pruned,
    Slot,
    StudyChanges,
    StudySpec,
    Value,
    WorkerSpec,
)
from thiessen.contract.faults import faults
from thiessen.contract.leases import metric
from thiessen.contract.words import TASK
from thiessen.errors import (
    Ended,
    InvalidRequest,
    LeaseLost,
    Refused,
    StudyEnded,
    StudyExists,
    StudyNotFound,
    WorkerUnknown,
)
from thiessen.integrations import KNOWN
from thiessen.numbers import trial_seed
from thiessen.patience import LATER, Patience
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.space import AskedFor, Config, Dimension, Open, OpenSpace, Space, space_of
from thiessen.study import Direction, Result, Study
from thiessen.trial import Asked, Ending

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.figures import Figure, Wanted

OFFLINE_SECONDS: Final = 3600.0
WAIT_SECONDS: Final = 2.0  # of one call for a trial; between two we look whether the study has ended
REPORT_SECONDS: Final = 1.0  # points wait at most so long
MOST_POINTS: Final = 1000  # of one heartbeat
LONGEST_TEXT: Final = 10_000  # of a message or a traceback

T = TypeVar("T")

log = logging.getLogger("thiessen.client")


def opened(
    client: "Client", name: str, said: Space | Open | None, trials: int | None, given: Mapping[str, Any]
) -> Study:
    """Begin a study, or go on with the one of this name.

    Raises StudyExists, StudyNotFound, InvalidRequest.
    """
    space = None if said is None else space_of(said)
    try:
        found = client.study(name)
    except StudyNotFound:
        if space is None:
            raise
        budget = {} if trials is None else {"max_trials": trials}
        spec = {"name": name, "task": TASK, "space": space.declaration, **given, **budget}
        try:
            client.create_study(StudySpec.model_validate(spec))
        except ValidationError as error:
            raise InvalidRequest(f"{name} is no study: {faults(error)}.") from error
    else:
        if space is not None:
            _check_same(found, space, given)
        if trials is not None and trials != found.max_trials:
            client.change_study(name, StudyChanges(max_trials=trials))
    return Study(Served(client, name))


def _check_same(found: contract.Study, space: Space, given: Mapping[str, Any]) -> None:
    """Raise StudyExists where the server's study is not what the program says of it."""
    mine = dict(given)
    if "strategy" in mine:  # what it leaves to the budget was settled when the study began
        document = strategy_to_json(strategy_from_json(mine["strategy"], KNOWN))
        mine["strategy"] = {name: each for name, each in document.items() if each is not None}
    declared = OpenSpace() if found.is_open else Space.from_json(found.space)
    differing = [] if declared == space else ["space"]
    for term, each in mine.items():
        theirs = getattr(found, term)
        known = {name: theirs.get(name) for name in each} if isinstance(each, Mapping) and theirs else theirs
        if known != each:
            differing.append(term)
    if differing:
        raise StudyExists(
            f"the server has a study {found.name} whose {' and '.join(differing)} differ from what is asked "
            "for here. Give another name, or open it by its name alone."
        )


@dataclass
class Running:
    """A trial that this program tries."""

    lease: Lease
    points: list[Point] = field(default_factory=list)  # not yet told
    told_at: float = field(default_factory=time.monotonic)
    stop: str | None = None  # why not to go on
    is_pruned: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return f"trial {self.lease.trial} of {self.lease.study}"


class Served:
    """Keeps a study on a server; any thread may ask and tell. Heartbeats are sent by one of its own."""

    def __init__(self, client: "Client", name: str, *, offline_seconds: float = OFFLINE_SECONDS) -> None:
        study = client.study(name)
        self.name = name
        self._space = _space(study)
        self.direction: Direction = "maximize" if study.direction == "maximize" else "minimize"
        self._client = client
        self._seed = study.seed
        incarnation = token_hex(4)  # in the name too: a process may have several studies open
        host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:60]
        self._worker = f"program-{host}-{os.getpid()}-{incarnation}"
        self._offer = WorkerSpec(incarnation=incarnation, tasks=[OfferedTask(name=study.task)])
        self._running: dict[int, Running] = {}
        self._is_closed = threading.Event()
        self._patience = Patience(stop=self._is_closed, offline_seconds=offline_seconds)
        self._beats: threading.Thread | None = None
        self._lock = threading.Lock()
        self._is_registered = False

    @property
    def space(self) -> Space:
        return _space(self._client.study(self.name)) if self._space.is_open else self._space

    @property
    def max_trials(self) -> int:
        return self._client.study(self.name).max_trials

    @property
    def ended(self) -> int:
        return self._client.study(self.name).counts.finished

    @property
    def best(self) -> Result | None:
        return next(iter(self.ranking(1)), None)

    def ask(self) -> Asked:
        asked = self.ask_now()
        while asked is None:
            asked = self._asked(WAIT_SECONDS)
        return asked

    def ask_now(self) -> Asked | None:
        return self._asked(0.0)

    def _asked(self, wait: float) -> Asked | None:
        """Return a trial, None where there was none for so many seconds. Raises Ended, InvalidRequest."""
        leases = self._until_answered(partial(self._lease, wait))
        if leases:
            [lease] = leases
            self._running[lease.trial] = Running(lease)
            self._begin_to_beat()
            space = self._space if lease.space is None else OpenSpace.from_json(lease.space)
            return Asked(number=lease.trial, config=lease.config, seed=lease.seed, space=space)
        study = self._until_answered(lambda: self._client.study(self.name))
        if study.is_mirror:
            raise InvalidRequest(
                f"{self.name} mirrors a study of Optuna, whose programs alone add trials. Give another name."
            )
        if study.state in {"completed", "stopped"}:
            why = f" ({study.reason})" if study.reason else ""
            raise Ended(f"{self.name} is {study.state}{why}.")
        return None

    def _lease(self, wait: float) -> list[Lease]:
        """Ask for a trial, as a worker that the server knows."""
        request = LeaseRequest(
            worker=self._worker,
            incarnation=self._offer.incarnation,
            request_id=token_hex(8),
            studies=[self.name],
            slot=Slot(name="program"),
            wait_seconds=wait,
        )
        for _ in range(2):  # once more where the server has forgotten the worker
            if not self._is_registered:
                self._client.register(self._worker, self._offer)
                self._is_registered = True
            try:
                return self._client.lease(request)
            except WorkerUnknown:
                self._is_registered = False
        return []

    def enqueue(self, config: Config) -> int:
        self._space.check_start(config)
        return self._added({"config": config})

    def add(self, config: Config, ending: Ending) -> int:
        added: dict[str, Any] = {"config": config, "outcome": _outcome(replace(ending, asked=None))}
        if ending.asked is None:
            self._space.validate(config)
        else:
            added["dimensions"] = ending.asked.to_json()["dimensions"]
        return self._added(added)

    def _added(self, trial: Mapping[str, Any]) -> int:
        try:
            [added] = self._client.add_trials(self.name, [NewTrial.model_validate(trial)])
        except StudyEnded as ended:
            raise Ended(str(ended)) from ended
        return added.trial

    def report(self, trial: int, step: int, metrics: Mapping[str, float]) -> str | None:
        running = self._running[trial]
        with running.lock:
            running.points.append(
                Point(step=step, metrics={name: metric(each) for name, each in metrics.items()})
            )
            if time.monotonic() - running.told_at >= REPORT_SECONDS:
                self._beat(running)
        if running.stop is not None and not running.is_pruned:
            raise Ended(f"{running.name} is not wanted any more: {running.stop}")
        return running.stop

    def refusal(self, trial: int) -> str | None:
        return self._running[trial].stop

    def end(self, trial: int, ending: Ending) -> None:
        running = self._running[trial]
        with running.lock, suppress(LeaseLost):
            while running.points:
                self._until_answered(lambda: self._tell(running))
        lease_id = running.lease.lease_id
        if ending.outcome == "failed":
            failure = Failure(
                kind="error", message=ending.message[:LONGEST_TEXT], retry=False, **_told(ending.asked)
            )
            self._settle(trial, lambda: self._client.fail(lease_id, failure))
        else:
            outcome = _outcome(ending)
            self._settle(trial, lambda: self._client.complete(lease_id, outcome))

    def leave(self, trial: int, error: BaseException, asked: AskedFor | None) -> None:
        lease_id = self._running[trial].lease.lease_id
        if isinstance(error, Exception) and not isinstance(error, Ended):
            failure = Failure(
                kind="error",
                message=f"{type(error).__name__}: {error}"[:LONGEST_TEXT],
                traceback="".join(traceback.format_exception(error))[-LONGEST_TEXT:],
                **({} if isinstance(error, InvalidRequest) else _told(asked)),  # else it was refused just now
            )
            self._settle(trial, lambda: self._client.fail(lease_id, failure))
        else:
            self._settle(trial, lambda: self._client.release(lease_id))

    def _settle(self, trial: int, call: Callable[[], None]) -> None:
        """End the attempt; what comes after its lease was lost is kept by the server, and does not count."""
        try:
            self._until_answered(call)
        except InvalidRequest:
            raise  # nothing has ended: who holds the trial may leave it
        except LeaseLost as lost:
            log.warning("%s", lost)
        except BaseException:
            del self._running[trial]
            raise
        del self._running[trial]

    def results(self) -> Sequence[Result]:
        return list(self._results())

    def _results(self) -> Iterator[Result]:
        columns = self._client.history(self.name).columns
        dimensions = self.space.dimensions
        for at, (number, state, value) in enumerate(
            zip(columns.number, columns.state, columns.value, strict=True)
        ):
            there = {name: values[at] for name, values in columns.config.items()}
            yield Result(
                number=number,
                state=state,
                config={name: each for name, each in there.items() if _is_there(dimensions[name], each)},
                value=value,
                loss=value if value is None or self.direction == "minimize" else -value,
                seed=trial_seed(self._seed, number),
            )

    def ranking(self, top: int) -> Sequence[Result]:
        return [
            Result(
                number=each.trial,
                state="succeeded",
                config=each.config,
                value=each.value,
                loss=each.loss,
                seed=each.seed,
            )
            for each in self._client.best(self.name, top=top)
        ]

    def figure(self, name: str, wanted: "Wanted") -> "Figure":
        from thiessen.figures import FigureError

        try:
            return self._client.figure(self.name, name, wanted)
        except InvalidRequest as error:
            raise FigureError(str(error)) from error

    def extend(self, trials: int) -> None:
        self._client.change_study(self.name, StudyChanges(max_trials=trials))

    def close(self) -> None:
        self._is_closed.set()
        if self._beats is not None:
            self._beats.join()

    def _until_answered(self, call: Callable[[], T]) -> T:
        return self._patience.until_answered(call)

    def _begin_to_beat(self) -> None:
        with self._lock:
            if self._beats is None:
                self._beats = threading.Thread(target=self._beat_on, name="thiessen-heartbeats", daemon=True)
                self._beats.start()

    def _beat_on(self) -> None:
        """Keep the leases while their trials train, however long that takes."""
        while not self._is_closed.wait(REPORT_SECONDS):
            for running in [*self._running.values()]:
                with running.lock:
                    quiet = time.monotonic() - running.told_at
                    if quiet >= (REPORT_SECONDS if running.points else running.lease.lease_seconds / 3):
                        self._beat(running)

    def _beat(self, running: Running) -> None:
        """Say that the trial goes on, and hear what the server orders; an outage is borne."""
        try:
            self._tell(running)
        except LATER as error:
            log.warning("%s goes on without the server: %s", running.name, error)
        except Refused as refusal:  # another has the trial, or nobody wants it any more
            running.stop = str(refusal)
        running.told_at = time.monotonic()

    def _tell(self, running: Running) -> None:
        """Send the oldest points. Raises as Client does."""
        points = running.points[:MOST_POINTS]
        answer = self._client.heartbeat(running.lease.lease_id, points)
        del running.points[: len(points)]
        if answer.verdict in {"prune", "stop"}:
            running.stop = answer.reason or "the study was stopped"
            running.is_pruned = answer.verdict == "prune"


def _is_there(dimension: Dimension, value: object) -> bool:
    """Return whether it was active: null says that it was not, unless it is one of the choices."""
    return value is not None or dimension.refusal(None) is None


def _space(study: contract.Study) -> Space:
    return OpenSpace.from_json(study.space) if study.is_open else Space.from_json(study.space)


def _told(asked: AskedFor | None) -> dict[str, Any]:
    """Return what is told beside an outcome where the space is open."""
    if asked is None:
        return {}
    try:
        return {"asked": contract.AskedFor.model_validate(asked.to_json())}
    except ValidationError as error:
        raise InvalidRequest(f"the trial asked for what no server takes: {faults(error)}.") from error


def _outcome(ending: Ending) -> Outcome:
    told = _told(ending.asked)
    match ending.outcome:
        case "pruned":
            return Pruned(pruned=True, value=ending.value, **told)
        case "diverged":
            return Diverged(diverged=ending.diverged, **told)
        case _:
            if ending.value is None:
                raise ValueError("a trial that succeeded has a value")
            return Value(value=ending.value, **told)
