"""How the confirmed config that an arm's searches prefer learns, and when it reaches a target."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from thiessen.comparison import bands
from thiessen.comparison.confirmations import Again
from thiessen.comparison.searched import Direction, Run
from thiessen.comparison.values import computed, known, line
from thiessen.contract import BestBy, Reached, Training
from thiessen.elementwise import Array

Over = Literal["updates", "seconds"]

MOST_POINTS: Final = 200  # of a line
MOST_METRICS: Final = 8
CLOCK: Final[dict[Over, str]] = {
    "updates": "step",
    "seconds": "seconds",
}  # the metrics that tell how far it is
FALLING: Final = ("loss", "error")  # how the names of metrics end of which less is better
USUAL: Final = (  # what a target is a value of, unless a comparison says so
    "validation_loss", "validation_error", "loss", "error", "value", "train_loss", "train_error",
)  # fmt: skip


def trainings(runs: Sequence[Run], of: Sequence[str] | None = None) -> list[Training]:
    """Return the mean of metrics over the runs of one config, against updates and against seconds."""
    return [
        Training(metric=metric, over=over, line=line(at, mean, ends, "minimize"))
        for metric in (metrics(runs) if of is None else of)
        for over in CLOCK
        if (curves := _curves(runs, metric, over))
        for at, mean, ends in [_mean(curves)]
    ]


def best_by(configs: Sequence[Again], direction: Direction) -> list[BestBy]:
    """Return for each metric which config ends best by it in the mean, and how that one learns."""
    found = []
    for metric in metrics([run for each in configs for run in each.runs]):
        ends = [float(np.mean([_ended(run, metric, direction) for run in each.runs])) for each in configs]
        least = min(ends)
        if math.isfinite(least):
            best = configs[ends.index(least)]
            found.append(
                BestBy(
                    metric=metric,
                    replicate=best.replicate,
                    trial=best.trial,
                    mean=computed(_sign(metric, direction) * least),
                    training=trainings(best.runs, [metric]),
                )
            )
    return found


def metrics(runs: Sequence[Run]) -> list[str]:
    """Return which metrics of the runs say how well they do, in the order in which they were told."""
    names = list(dict.fromkeys(name for run in runs for name in run.points if name not in CLOCK.values()))
    judging = [name for name in names if name.endswith(FALLING)]
    return (judging or names)[:MOST_METRICS]


def usual_metric(arms: Sequence[Sequence[Run]]) -> str | None:
    """Return the first of the usual metrics that every run of every arm has, or else any."""
    runs = [run for each in arms for run in each]
    shared = [name for name in metrics(runs) if all(name in run.points for run in runs)]
    return next((name for name in USUAL if name in shared), shared[0] if shared else None)


def worst_end(arms: Sequence[Sequence[Run]], metric: str, direction: Direction) -> float | None:
    """Return where the arm ends that ends worst, of those whose median run ends somewhere."""
    ends = [_median([_ended(run, metric, direction) for run in runs]) for runs in arms if runs]
    finite = [each for each in ends if math.isfinite(each)]
    return _sign(metric, direction) * max(finite) if finite else None


def reached(runs: Sequence[Run], metric: str, target: float, direction: Direction) -> Reached:
    """Return when the median run reaches a target: never where less than half of them do."""
    sign = _sign(metric, direction)
    times = {
        over: [_first(run, metric, over, sign, target) for run in runs if CLOCK[over] in run.points]
        for over in CLOCK
    }
    return Reached(
        target=target,
        metric=metric,
        runs=len(runs),
        reached=sum(math.isfinite(each) for each in times["updates"]),
        updates=known(_median(times["updates"])),
        seconds=known(_median(times["seconds"])),
    )


def _sign(metric: str, direction: Direction) -> float:
    """Return what makes a loss of a metric."""
    return 1.0 if direction == "minimize" or metric.endswith(FALLING) else -1.0


def _points(run: Run, metric: str, over: Over) -> tuple[Array, Array]:
    """Return a curve: where it has points, and what they are. Not all of these are finite."""
    if metric not in run.points or CLOCK[over] not in run.points:
        return np.empty(0), np.empty(0)
    at, values = (np.array(run.points[name], dtype=float) for name in (CLOCK[over], metric))
    is_known = np.isfinite(at)
    return at[is_known], values[is_known]


def _first(run: Run, metric: str, over: Over, sign: float, target: float) -> float:
    at, values = _points(run, metric, over)
    met = np.flatnonzero(sign * values <= sign * target)
    return float(at[met[0]]) if len(met) else math.inf


def _ended(run: Run, metric: str, direction: Direction) -> float:
    _, values = _points(run, metric, "updates")
    last = _sign(metric, direction) * values[-1] if len(values) and math.isfinite(run.loss) else math.inf
    return float(last) if math.isfinite(last) else math.inf


def _median(times: Sequence[float]) -> float:
    """Return the lower one of those in the middle: finite if half of them are."""
    return sorted(times)[(len(times) - 1) // 2] if times else math.inf


@dataclass(frozen=True)
class _Curve:
    """The finite points of a run, and whether it went on to its end."""

    at: Array
    values: Array
    is_whole: bool

    def on(self, grid: Array) -> Array:
        """Return it on a grid, straight between its points; infinite where it has broken off."""
        if not len(self.at):
            return np.full(len(grid), math.inf)
        values = np.interp(grid, self.at, self.values)
        return values if self.is_whole else np.where(grid > self.at[-1], math.inf, values)


def _curves(runs: Sequence[Run], metric: str, over: Over) -> list[_Curve]:
    """Return the curve of each run; none where a run that succeeded has no such curve."""
    curves = []
    for run in runs:
        at, values = _points(run, metric, over)
        at, first = np.unique(at[np.isfinite(values)], return_index=True)
        values = values[np.isfinite(values)][first]
        curves.append(_Curve(at, values, is_whole=math.isfinite(run.loss)))
    if any(curve.is_whole and not len(curve.at) for curve in curves):
        return []
    return curves if any(len(curve.at) for curve in curves) else []


def _mean(curves: Sequence[_Curve]) -> tuple[Array, Array, tuple[Array, Array]]:
    """Return a grid where all runs have points, and the mean over them with its interval."""
    seen = [curve for curve in curves if len(curve.at)]
    begins = max(curve.at[0] for curve in seen)
    ends = min([curve.at[-1] for curve in seen if curve.is_whole] or [max(curve.at[-1] for curve in seen)])
    every = np.unique(np.concatenate([curve.at for curve in seen]))
    grid = every[(every >= begins) & (every <= ends)]
    if len(grid) > MOST_POINTS:
        grid = np.linspace(begins, ends, MOST_POINTS)
    table = np.stack([curve.on(grid) for curve in curves])
    return grid, bands.mean(table), bands.band(table)
