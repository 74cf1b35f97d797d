"""What this process remembers of studies, so that no proposal reads a history again.

It learns within the steps that write, also of what others of the same group have just written: so many
proposals fit into one commit. If the group comes to nothing, what was learned is forgotten. A step learns
nothing of the trial it stores itself: it may be run again.
"""

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from threading import Lock
from typing import Any, Final

from app import meters
from app.domain.errors import StrategyUnavailable
from app.domain.study import Standing, Study, StudyId
from app.domain.trial import Observation, TrialState
from app.storage import Step, Store, Transaction, asked, if_undone, observations, studies, trials
from thiessen.integrations import KNOWN
from thiessen.search import History, Observed, Proposal, Revised, Snapshot, Strategy, Stream
from thiessen.search.asking import proposed
from thiessen.search.settings import strategy_from_json
from thiessen.search.strategy import StrategyError
from thiessen.space import AskedFor, Config

MOST_STUDIES: Final = 1024  # remembered at once: the least lately used is forgotten first
MOST_TRIALS: Final = 10_000_000  # of all of them, about 1 GB; the last study is remembered in any case
MOST_BEHIND: Final = 1000  # numbers learned within a step that writes; more are for `catch_up`
PAGE: Final = 1000  # rows read at once: what they take lies between what is kept, and stays taken
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
MEGABYTE: Final = 1024 * 1024
PATIENCE_SECONDS: Final = 0.2  # of a step that writes, for one that reads


Read = Callable[[Step[Any]], Any]
"""Runs a step that reads."""


class Known(Enum):
    """What is remembered of a study."""

    CURRENT = auto()
    NOT_YET = auto()  # its history is to be read first
    BORROWED = auto()  # nothing: its strategy is another package's, and is asked apart


class Behind(Exception):  # noqa: N818 - says what happened
    """Too much has happened since this study was remembered: catch up first."""


@dataclass
class Remembered:
    """A study, its strategy, and its history as far as it is known here."""

    study: Study
    strategy: Strategy
    history: History
    lock: Lock = field(default_factory=Lock)


class Memory:
    """The studies that proposals were asked for lately."""

    def __init__(self, most: int = MOST_STUDIES, most_trials: int = MOST_TRIALS) -> None:
        self._most = most
        self._most_trials = most_trials
        self._studies: OrderedDict[StudyId, Remembered] = OrderedDict()
        self._lock = Lock()
        self._loading = Lock()

    def catch_up(self, tx: Transaction, study_id: StudyId, numbered: int, observed: int) -> Known:
        """Learn what is committed, if it is not too much. Raises StrategyUnavailable."""
        remembered = self._of(study_id)
        if remembered is None:
            return Known.NOT_YET
        if not remembered.strategy.replayable:
            return Known.BORROWED
        history = remembered.history
        if max(numbered - history.trials, observed - history.landscape.watermark) > MOST_BEHIND:
            self.forget(study_id)
            return Known.NOT_YET
        if_undone(tx, study_id, partial(self.forget, study_id))
        with remembered.lock:
            try:
                _learn(tx, study_id, history, numbered, observed)
            except Revised:
                self.forget(study_id)
                return Known.NOT_YET
        return Known.CURRENT

    def load(self, store: Store, study_id: StudyId) -> None:
        """Read the history of a study, page by page; one at a time. Raises StrategyUnavailable."""
        with self._loading:
            if self._of(study_id) is not None:
                return
            study = store.read(partial(studies.numbered, study_id=study_id))
            try:
                strategy = strategy_from_json(study.spec.strategy, KNOWN)
            except StrategyError as error:  # stored by another version
                raise StrategyUnavailable(study.spec.name, f"is not known to this server: {error}") from error
            is_ours = strategy.replayable
            with _frugal():
                history = history_of(store.read, study) if is_ours else History(study.spec.space)
            self._keep(Remembered(study, strategy, history))

    def propose(self, tx: Transaction, standing: Standing) -> Proposal:
        """Return the proposal for the next number of a study whose row is locked.

        Raises Behind, and Exhausted.
        """
        remembered = self._of(standing.id)
        if remembered is None or not remembered.lock.acquire(timeout=PATIENCE_SECONDS):
            raise Behind
        try:
            if remembered is not self._of(standing.id):  # it was made anew meanwhile
                raise Behind
            history, study = remembered.history, remembered.study
            if history.trials > standing.trials or history.landscape.watermark > standing.observations:
                self.forget(standing.id)  # the database has lost what was learned: a standby took over, say
                raise Behind
            if standing.trials - history.trials > MOST_BEHIND:
                raise Behind
            _number(tx, history, standing)
            with meters.PROPOSAL_SECONDS.labels(remembered.strategy.name).time():
                proposal = proposed(
                    remembered.strategy,
                    history.landscape,
                    standing.turns,
                    Stream(study.spec.seed, standing.trials),
                )
        finally:
            remembered.lock.release()
        return proposal

    def number(self, study_id: StudyId, number: int, config: Config) -> None:
        """Learn of a trial just committed, unless that costs waiting: then it is read when it is needed."""
        remembered = self._of(study_id)
        if remembered is None or not remembered.lock.acquire(blocking=False):
            return
        try:
            if remembered.history.trials == number:
                remembered.history.number(config)
        finally:
            remembered.lock.release()

    def study(self, study_id: StudyId) -> Study:
        """Return a study as it was when it was remembered: its spec. Raises Behind."""
        remembered = self._of(study_id)
        if remembered is None:
            raise Behind
        return remembered.study

    def forget(self, study_id: StudyId) -> None:
        """Begin anew with this study when it is asked for again."""
        with self._lock:
            self._studies.pop(study_id, None)

    def _of(self, study_id: StudyId) -> Remembered | None:
        with self._lock:
            if study_id not in self._studies:
                return None
            self._studies.move_to_end(study_id)
            return self._studies[study_id]

    def _keep(self, remembered: Remembered) -> Remembered:
        with self._lock:
            kept = self._studies.setdefault(remembered.study.id, remembered)
            trials = sum(each.history.trials for each in self._studies.values())
            while len(self._studies) > 1 and (len(self._studies) > self._most or trials > self._most_trials):
                _, forgotten = self._studies.popitem(last=False)
                trials -= forgotten.history.trials
        return kept


@contextmanager
def _frugal() -> Iterator[None]:
    """Let what is freed meanwhile go back to the system: the history grows among it, and would hold it.

    Large arrays lie outside the heap from then on. What lies in it may stay there afterwards, to be used
    again: what a proposal frees would else go back, and come again, in each.
    """
    glibc = ctypes.CDLL(None)
    if not hasattr(glibc, "mallopt"):  # no other needs it
        yield
        return
    glibc.mallopt(M_MMAP_THRESHOLD, 2 * MEGABYTE)
    glibc.mallopt(M_TRIM_THRESHOLD, MEGABYTE // 8)
    try:
        yield
    finally:
        glibc.malloc_trim(0)
        glibc.mallopt(M_TRIM_THRESHOLD, 6 * MEGABYTE)


def history_of(read: Read, study: Study) -> History:
    """Return the history of a study as `study` stood when it was read, whatever was committed since.

    It is read in pages, none of which takes long: what has a number below those of `study` never changes.
    """
    standing = study.standing
    has_ended = bytearray(standing.trials)
    snapshot = Snapshot(
        trials=standing.trials,
        watermark=standing.observations,
        ended=_ended(read, study, has_ended),
        pending=_pending(read, standing, has_ended),
    )
    space = study.spec.space
    if space.is_open:
        space = read(partial(asked.space, study_id=standing.id, last=standing.observations))
    return History(
        space,
        snapshot,
        duplicates=study.spec.duplicates.value,
        failures_repel=study.spec.failures_repel,
    )


def _ended(read: Read, study: Study, has_ended: bytearray) -> Iterator[tuple[Observed, Config]]:
    """Yield the latest observation of each trial that has ended, in order; mark these trials."""
    standing, is_open = study.standing, study.spec.space.is_open
    last = read(partial(observations.replaced, study_id=standing.id, last=standing.observations))
    for after in range(0, standing.observations, PAGE):
        until = min(after + PAGE, standing.observations)
        page = partial(
            observations.with_configs, study_id=standing.id, after=after, last=until, is_open=is_open
        )
        for seq, trial, outcome, loss, cause, config, is_asked in read(page):
            if last.get(trial, seq) == seq and outcome != TrialState.QUEUED.value:
                has_ended[trial] = True
                told = AskedFor(config=config, dimensions={}) if is_asked else None
                observed = Observed(seq=seq, trial=trial, outcome=outcome, loss=loss, cause=cause, asked=told)
                yield observed, config


def _pending(read: Read, standing: Standing, has_ended: bytearray) -> Iterator[tuple[int, Config]]:
    """Yield the trials that are not marked, in order."""
    for begin in range(0, standing.trials, PAGE):
        end = min(begin + PAGE, standing.trials)
        if all(has_ended[begin:end]):
            continue
        page = read(partial(trials.numbers, study_id=standing.id, begin=begin, end=end))
        for number, (_, config) in enumerate(page, start=begin):
            if not has_ended[number]:
                yield number, config


def _learn(tx: Transaction, study_id: StudyId, history: History, numbered: int, observed: int) -> None:
    if history.trials < numbered:
        for _, config in trials.numbers(tx, study_id, history.trials, numbered):
            history.number(config)
    if history.landscape.watermark < observed:
        landscape = history.landscape
        for observation in observations.since(
            tx, study_id, landscape.watermark, observed, is_open=landscape.space.is_open
        ):
            history.observe(_observed(observation))


def _number(tx: Transaction, history: History, standing: Standing) -> None:
    """Learn the numbers given since. Raises Behind where another server knew more for its proposal.

    What a study's proposals know never falls from one number to the next: so they can be replayed.
    """
    if history.trials == standing.trials:
        return
    numbered = trials.numbers(tx, standing.id, history.trials, standing.trials)
    if any((watermark or 0) > history.landscape.watermark for watermark, _ in numbered):
        raise Behind
    for _, config in numbered:
        history.number(config)


def _observed(observation: Observation) -> Observed:
    return Observed(
        seq=observation.seq,
        trial=observation.trial,
        outcome=observation.outcome.value,  # type: ignore[arg-type] # terminal, or queued again
        loss=observation.loss,
        cause=observation.cause,
        asked=observation.asked,
    )
