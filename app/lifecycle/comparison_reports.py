"""Reports of comparisons, computed here and kept until something happens in one of their studies."""

import asyncio
import math
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import Any, Final

from pydantic_core import to_json

from app.domain.comparison import Comparison, Line, Part, Tried
from app.domain.study import StudyId, StudyState
from app.domain.trial import TrialState
from app.lifecycle import compare
from app.storage import Store, Transaction, attempts, comparisons
from thiessen.comparison import plan
from thiessen.comparison.report import report
from thiessen.comparison.searched import ArmFound, Ended, Points, Run, Search
from thiessen.contract import Arm, ComparisonReport, ComparisonSpec
from thiessen.integrations import KNOWN
from thiessen.search.settings import in_words
from thiessen.space import Dimension, dimension_to_json
from thiessen.version import __version__

MOST_KEPT: Final = 32  # reports
MOST_POINTS: Final = 500_000  # of all curves of a comparison together; of longer ones some are left out
FEWEST_POINTS: Final = 50  # of a curve


@dataclass(frozen=True)
class Known:
    """What is read of a comparison for its report."""

    spec: ComparisonSpec
    comparison: Comparison
    arms: Sequence[ArmFound]


class Reports:
    """Computes one report at a time: the others wait, and no thread waits with them."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[str, ComparisonReport] = OrderedDict()
        self._lock = Lock()
        self._busy = asyncio.Lock()

    async def report(self, store: Store, project: str, name: str) -> tuple[ComparisonReport, str]:
        """Return what came of a comparison, and a short text that another report does not have.

        Raises ComparisonNotFound.
        """
        tag: str = await store.seen(partial(_tag, project=project, name=name))
        if (known := self._known(tag)) is not None:
            return known, tag
        async with self._busy:
            if (known := self._known(tag)) is not None:  # computed while this one waited
                return known, tag
            tag, found = await store.seen(partial(_read, project=project, name=name))
            made = await asyncio.to_thread(_report, found)
        self._keep(tag, made)
        return made, tag

    def _known(self, tag: str) -> ComparisonReport | None:
        with self._lock:
            if tag not in self._kept:
                return None
            self._kept.move_to_end(tag)
            return self._kept[tag]

    def _keep(self, tag: str, made: ComparisonReport) -> None:
        with self._lock:
            self._kept[tag] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


def _report(known: Known) -> ComparisonReport:
    comparison = known.comparison
    return report(
        known.spec,
        known.arms,
        project=comparison.project,
        state=comparison.state.value,
        is_complete=comparison.state is StudyState.COMPLETED,
    )


def _tag(tx: Transaction, project: str, name: str) -> str:
    return _tag_of(comparisons.named(tx, project, name), tx)


def _tag_of(comparison: Comparison, tx: Transaction) -> str:
    """Return what tells a report from every other: of which moment of which comparison."""
    observed = comparisons.observations(tx, comparison.id)
    moment = [__version__, comparison.id, comparison.state, comparison.around, comparison.spec, observed]
    return sha256(to_json(moment)).hexdigest()[:32]


def _read(tx: Transaction, project: str, name: str) -> tuple[str, Known]:
    """Read a comparison at one moment."""
    comparison = comparisons.named(tx, project, name)
    spec = ComparisonSpec.model_validate(comparison.spec)
    lines = list(comparisons.lines(tx, [comparison.id]))
    tried: dict[StudyId, list[Tried]] = defaultdict(list)
    for each in comparisons.ended(tx, comparison.id):
        tried[each.study_id].append(each)
    confirming = {line.arm: line for line in lines if line.around == comparison.around}
    confirms = comparisons.confirmed(tx, comparison.id, comparison.around)
    room = max(MOST_POINTS // max(plan.most_runs(spec) * len(spec.arms), 1), FEWEST_POINTS)
    searches = {each.place.arm: each for each in compare.searches(spec.model_copy(update={"replicates": 1}))}
    arms = []
    for arm in spec.arms:
        of_arm = [line for line in lines if line.arm == arm.label and line.is_search]
        again, runs = confirming.get(arm.label), []
        if again is not None and spec.confirm is not None:
            curves = _curves(tx, again, tried[again.id], room)
            runs = _runs(confirms[again.id], tried[again.id], curves, spec.confirm.seeds)
        arms.append(_arm(spec, arm, searches[arm.label], of_arm, tried, runs))
    return _tag_of(comparison, tx), Known(spec, comparison, arms)


def _arm(
    spec: ComparisonSpec,
    arm: Arm,
    search: Part,
    lines: Sequence[Line],
    tried: Mapping[StudyId, Sequence[Tried]],
    runs: Sequence[Run],
) -> ArmFound:
    searched = plan.dimensions(spec, arm)
    return ArmFound(
        label=arm.label,
        task=search.spec.task,
        strategy=in_words(search.spec.strategy, KNOWN),
        is_random=search.spec.strategy["name"] == "random",
        settings=plan.settings(spec, arm),
        dimensions={name: _declared(search.spec.space.dimensions[name]) for name in searched},
        versions=sorted({each.version for line in lines for each in tried[line.id] if each.version}),
        searches=[_search(line, tried[line.id]) for line in lines if tried[line.id]],
        runs=runs,
    )


def _search(line: Line, tried: Sequence[Tried]) -> Search:
    return Search(replicate=line.replicate or 0, study=line.name, trials=[_ended(each) for each in tried])


def _ended(tried: Tried) -> Ended:
    return Ended(
        number=tried.number,
        state=tried.state,
        loss=_loss(tried),
        updates=tried.updates,
        seconds=tried.seconds,
        config=tried.config,
    )


def _loss(tried: Tried) -> float:
    """Return what a trial is worth: nothing without success."""
    return tried.loss if tried.state == TrialState.SUCCEEDED and tried.loss is not None else math.inf


def _runs(
    confirms: Sequence[Sequence[Any]], tried: Sequence[Tried], curves: Mapping[int, Points], seeds: int
) -> list[Run]:
    """Return the runs that have ended, each with the config it was for: so many of each, in order."""
    runs = []
    for each in sorted(tried, key=lambda one: one.number):
        replicate, trial, searched = confirms[each.number // seeds]
        points = curves.get(each.number, {})
        runs.append(
            Run(
                replicate=replicate,
                trial=trial,
                config=each.config,
                searched=searched,
                loss=_loss(each),
                points=points,
            )
        )
    return runs


def _curves(tx: Transaction, line: Line, tried: Sequence[Tried], room: int) -> dict[int, Points]:
    """Return the learning curves of runs as columns, each within its room."""
    found = {}
    for each in tried:  # one at a time: together they may be large
        points = attempts.curves_of_trials(tx, line.id, [each.number]).get(each.number, [])
        found[each.number] = _columns(_thinned(points, room))
    return found


def _thinned(points: Sequence[dict[str, Any]], room: int) -> Sequence[dict[str, Any]]:
    """Return every so many of the points, and the last."""
    every = math.ceil(len(points) / room)
    return points if every <= 1 else [*points[:-1:every], points[-1]]


def _columns(points: Sequence[dict[str, Any]]) -> Points:
    names = sorted({name for point in points for name in point["metrics"]})
    columns = {name: [_number(point["metrics"].get(name)) for point in points] for name in names}
    return {**columns, "step": [float(point["step"]) for point in points]}


def _number(told: Any) -> float:
    return math.nan if told is None else float(told)


def _declared(dimension: Dimension) -> str:
    """Return how a dimension is declared, in a few words that are the same only for the same."""
    return " ".join(f"{name} {value}" for name, value in dimension_to_json(dimension).items())
