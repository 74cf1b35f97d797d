"""What this process remembers of studies, so that no proposal reads a history again.

Observations are learned from what is committed. Numbers are learned ahead, in the step that stores a trial:
so many proposals fit into one commit. If that step is run again or comes to nothing, it is taken back. What
the proposal before knew is learned in that step too: another server may have made it, and known more.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from app import meters
from app.domain.errors import StrategyUnavailable
from app.domain.study import Standing, Study, StudyId
from app.domain.trial import Observation
from app.storage import Transaction, observations, studies, trials
from thiessen.integrations import KNOWN
from thiessen.search import History, Observed, Proposal, Revised, Snapshot, Strategy, Stream
from thiessen.search.settings import strategy_from_json
from thiessen.search.strategy import StrategyError

MOST_STUDIES: Final = 64  # remembered at once: the least lately used is forgotten first
MOST_BEHIND: Final = 1000  # numbers learned within a step that writes; more are for `catch_up`
PATIENCE_SECONDS: Final = 0.2  # of a step that writes, for one that reads


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

    def __init__(self, most: int = MOST_STUDIES) -> None:
        self._most = most
        self._studies: OrderedDict[StudyId, Remembered] = OrderedDict()
        self._lock = Lock()

    def catch_up(self, tx: Transaction, study_id: StudyId) -> bool:
        """Learn what is committed; say whether the strategy is a borrowed one. Raises StrategyUnavailable."""
        remembered = self._of(study_id)
        if remembered is None:
            return not self._keep(_begin(tx, study_id)).strategy.replayable
        if not remembered.strategy.replayable:
            return True
        with remembered.lock:
            try:
                _learn(tx, remembered.history, studies.standing(tx, study_id))
            except Revised:
                self.forget(study_id)
                self._keep(_begin(tx, study_id))
        return False

    def propose(self, tx: Transaction, standing: Standing) -> Proposal:
        """Return the proposal for the next number of a study whose row is locked; here it has it at once.

        Raises Behind, and Exhausted.
        """
        remembered = self._of(standing.id)
        if remembered is None or not remembered.lock.acquire(timeout=PATIENCE_SECONDS):
            raise Behind
        try:
            history, study = remembered.history, remembered.study
            while history.trials > standing.trials:
                history.retract()
            if standing.trials - history.trials > MOST_BEHIND:
                raise Behind
            _number(tx, history, standing)
            _observe(tx, history, standing.id, trials.watermark(tx, standing.id, standing.turns - 1))
            with meters.PROPOSAL_SECONDS.labels(remembered.strategy.name).time():
                proposal = remembered.strategy.propose(
                    study.spec.space,
                    history.landscape,
                    standing.turns,
                    Stream(study.spec.seed, standing.trials),
                )
            history.number(proposal.config)
        except Revised:
            raise Behind from None
        finally:
            remembered.lock.release()
        return proposal

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
            while len(self._studies) > self._most:
                self._studies.popitem(last=False)
        return kept


def history_of(tx: Transaction, study: Study) -> History:
    """Return the history of a study as `study` stood when it was read, whatever was committed since."""
    standing = study.standing
    snapshot = Snapshot(
        trials=standing.trials,
        watermark=standing.observations,
        ended=(
            (_observed(observation), config)
            for observation, config in observations.latest(tx, study.id, standing.observations)
        ),
        pending=observations.pending(tx, study.id, standing.trials, standing.observations),
    )
    return History(
        study.spec.space,
        snapshot,
        duplicates=study.spec.duplicates.value,
        failures_repel=study.spec.failures_repel,
    )


def _begin(tx: Transaction, study_id: StudyId) -> Remembered:
    study = studies.numbered(tx, study_id)
    try:
        strategy = strategy_from_json(study.spec.strategy, KNOWN)
    except StrategyError as error:  # stored by another version
        raise StrategyUnavailable(study.spec.name, f"is not known to this server: {error}") from error
    history = history_of(tx, study) if strategy.replayable else History(study.spec.space)
    return Remembered(study, strategy, history)


def _learn(tx: Transaction, history: History, standing: Standing) -> None:
    _number(tx, history, standing)
    _observe(tx, history, standing.id, standing.observations)


def _number(tx: Transaction, history: History, standing: Standing) -> None:
    if history.trials < standing.trials:
        for _, config in trials.configs(tx, standing.id, history.trials, standing.trials):
            history.number(config)


def _observe(tx: Transaction, history: History, study_id: StudyId, last: int) -> None:
    known = history.landscape.watermark
    if known < last:
        for observation in observations.since(tx, study_id, known, last):
            history.observe(_observed(observation))


def _observed(observation: Observation) -> Observed:
    return Observed(
        seq=observation.seq,
        trial=observation.trial,
        outcome=observation.outcome.value,  # type: ignore[arg-type] # terminal, or queued again
        loss=observation.loss,
        cause=observation.cause,
    )
