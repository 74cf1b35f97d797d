"""Judge a running trial by its learning curve, beside those of its study's other trials."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from app.domain.study import Direction, StudyId
from app.domain.trial import TrialId
from app.storage import Transaction, attempts, observations, studies
from thiessen.search.stopping import Curve, Verdict, judged

MOST_CURVES: Final = 1000  # of trials that have ended, the last ones
MOST_STUDIES: Final = 64
FRESH_SECONDS: Final = 1.0  # how old the curves of running trials may be


@dataclass(frozen=True, kw_only=True)
class Case:
    """A trial to judge."""

    study: StudyId
    trial_id: TrialId
    trial: int
    attempt: int
    direction: Direction
    stopping: Mapping[str, Any]


@dataclass
class Curves:
    """The learning curves of a study as far as they are known here, as losses."""

    watermark: int
    ended: OrderedDict[int, Curve] = field(default_factory=OrderedDict)
    running: dict[int, Curve] = field(default_factory=dict)
    looked_at: float = -FRESH_SECONDS
    lock: Lock = field(default_factory=Lock)


class Judge:
    """Remembers the curves of the studies that were judged lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._curves: OrderedDict[StudyId, Curves] = OrderedDict()
        self._lock = Lock()

    def verdict(self, tx: Transaction, case: Case) -> Verdict:
        """Say whether a trial is worth going on with."""
        metric = case.stopping["metric"]
        own = _losses(attempts.curve(tx, case.trial_id, case.attempt), metric, case.direction)
        if case.stopping["rule"] == "threshold":
            threshold = case.direction.loss(case.stopping["threshold"])
            return judged({**case.stopping, "threshold": threshold}, own, [])
        curves = self._of(tx, case)
        with curves.lock:
            self._catch_up(tx, case, curves)
            ended, running = (
                [curve for trial, curve in known.items() if trial != case.trial]
                for known in (curves.ended, curves.running)
            )
            return judged(case.stopping, own, ended, running)

    def _of(self, tx: Transaction, case: Case) -> Curves:
        with self._lock:
            if case.study not in self._curves:
                known = studies.standing(tx, case.study).observations
                self._curves[case.study] = Curves(max(0, known - MOST_CURVES))
            self._curves.move_to_end(case.study)
            while len(self._curves) > MOST_STUDIES:
                self._curves.popitem(last=False)
            return self._curves[case.study]

    def _catch_up(self, tx: Transaction, case: Case, curves: Curves) -> None:
        """Read the curves that ended since, and now and then those that grow."""
        last = studies.standing(tx, case.study).observations
        ended = observations.attempts_since(tx, case.study, curves.watermark, last)
        for trial, points in attempts.curves_of(tx, case.study, ended):
            curves.running.pop(trial, None)
            curves.ended.pop(trial, None)
            if losses := _losses(points, case.stopping["metric"], case.direction):
                curves.ended[trial] = losses
        curves.watermark = last
        while len(curves.ended) > MOST_CURVES:
            curves.ended.popitem(last=False)
        if case.stopping["rule"] == "median" or self._clock() - curves.looked_at < FRESH_SECONDS:
            return
        curves.looked_at = self._clock()
        curves.running = {
            trial: _losses(points, case.stopping["metric"], case.direction)
            for trial, points in attempts.curves_under_way(tx, case.study).items()
        }


def _losses(points: Sequence[Mapping[str, Any]], metric: str, direction: Direction) -> Curve:
    return [
        (float(point["step"]), direction.loss(float(point["metrics"][metric])))
        for point in points
        if metric in point["metrics"]
    ]
