"""What is known about the space: the loss of each finished trial, spread over the region nearest to it."""

import math
from array import array
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from thiessen.columns import Columns, Table
from thiessen.elementwise import Array
from thiessen.search.neighbours import Neighbours
from thiessen.search.ranking import Ranking
from thiessen.search.taken import Taken, digests
from thiessen.space import Config, Space, SpaceError

_RECALLED: Final = -1  # in place of a trial number
_NOBODY: Final[Mapping[int, float]] = MappingProxyType({})


@dataclass(frozen=True)
class Nearest:
    """The finished trial whose region a candidate falls into, and the losses of its neighbourhood."""

    trial: int | None  # the first observed of those at this distance; None when it was recalled
    distance: float
    losses: tuple[float, ...]  # of the whole neighbourhood, as observed; NaN where diverged

    @property
    def diverged(self) -> bool:
        """Whether the whole neighbourhood diverged, so that nothing finite is known here."""
        return all(map(math.isnan, self.losses))

    def estimate(self, worst: float) -> float:
        """Return the mean of the losses, a diverged one counting as `worst`."""
        losses = [worst if math.isnan(loss) else loss for loss in self.losses]
        mean = 0.0
        for loss in losses:  # one by one: Python's own sum rounds differently since 3.12
            mean += loss / len(losses)
        return min(max(mean, min(losses)), max(losses))  # rounding never takes it out of their range


@dataclass(frozen=True)
class Finished:
    """A finished trial as the landscape knows it."""

    trial: int | None  # None when it was recalled
    loss: float  # NaN when it diverged
    point: tuple[float, ...]  # unit coordinates, NaN where inactive


class Landscape:
    """The nearest-neighbour model of the loss over a space, with the trials that run and the configs taken.

    It only grows. A diverged trial never moves `best` or `worst` and ranks last.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.columns = Columns(space)
        self.watermark = 0  # the last observation it has seen
        self.best = math.inf
        self.worst = -math.inf
        self.mean = 0.0  # of the finite losses
        self._finite = 0
        self._taken = Taken()
        self._pending: dict[int, Config] = {}
        self._pending_points: dict[int, list[float]] = {}
        self._trials = array("i")
        self._ranking = Ranking()
        self._succeeded: Ranking | None = None  # without the pruned, from the first of these on
        dimensions = space.dimensions.values()
        self._neighbours = Neighbours(
            ordered=[dimension.ordered for dimension in dimensions],
            conditional=[space.may_lack(name) for name in space.dimensions],
        )

    def __len__(self) -> int:
        return len(self._trials)

    def take(self, config: Config) -> None:
        """Remember that a trial of this config exists, finished or not."""
        self._taken.add(self._digest(config))

    def take_each(self, configs: Table) -> None:
        """Remember that trials of these configs exist."""
        self._taken.update(digests(configs.codes) ^ configs.has_whole_floats)

    def is_taken(self, config: Config) -> bool:
        return self._digest(config) in self._taken

    def is_taken_each(self, codes: Array) -> list[bool]:
        """Return which of many proposed configs are taken, each given by its row of `Columns`."""
        return [digest in self._taken for digest in digests(codes).tolist()]

    def pend(self, trial: int, config: Config) -> None:
        """Mark a trial as not finished, until it is observed or ends."""
        self._pending[trial] = config
        self._pending_points[trial] = self.space.encode(config)

    def end(self, trial: int) -> None:
        """Take the mark from a trial that ended without saying anything of its config."""
        self._pending.pop(trial, None)
        self._pending_points.pop(trial, None)

    @property
    def pending(self) -> Mapping[int, Config]:
        """The trials marked as not finished, oldest mark first."""
        return MappingProxyType(self._pending)

    def observe(self, trial: int, config: Config, loss: float | None) -> None:
        """Add a finished trial; a loss that is None or not finite means that it diverged."""
        self._finish(trial, self._point_at_end(trial, config), _or_nan(loss))

    def observe_each(self, trials: Sequence[int], points: Array, losses: Sequence[float | None]) -> None:
        """Do what `observe` does, of many trials at once, none of which is pending. A row is a point."""
        numbers = list(map(_or_nan, losses))
        if self._succeeded is not None:
            self._succeeded.extend(numbers)
        self._neighbours.extend(points)
        self._trials.extend(trials)
        self._ranking.extend(numbers)
        for loss in numbers:
            self._count(loss)

    def observe_pruned(self, trial: int, config: Config, last: float | None) -> None:
        """Add a trial that was stopped early, when this was its last loss.

        It counts with that loss, but with no less than the median of those that succeeded before it, so it is
        never the best. While none has, or without a finite loss of its own, it counts as diverged.
        """
        point = self._point_at_end(trial, config)
        if self._succeeded is None:
            self._succeeded = deepcopy(self._ranking)
        loss = _or_nan(last)
        if not math.isnan(loss):
            loss = max(loss, self._succeeded.quantile(0.5)) if self.best < math.inf else math.nan
        self._rank(trial, point, loss)

    def recall(self, config: Config, loss: float | None) -> bool:
        """Add a finished trial of another study on the same criterion; say whether it is a point here.

        It teaches as those of this study do, but has no number, takes no config and moves no watermark.
        """
        try:
            self.space.validate(config)
        except SpaceError:
            return False
        self._finish(_RECALLED, self.space.encode(config), _or_nan(loss))
        return True

    def nearest(
        self,
        config: Config,
        *,
        neighbours: int = 1,
        category_weight: float = 1.0,
        pending: Mapping[int, float] = _NOBODY,
    ) -> Nearest | None:
        """Return what `nearest_each` does for one config, or None when nothing is known."""
        if not self._trials and not pending:
            return None
        point = self.space.encode(config)
        return self.nearest_each(
            [point], neighbours=neighbours, category_weight=category_weight, pending=pending
        )[0]

    def nearest_each(
        self,
        points: Array | Sequence[Sequence[float]],
        *,
        neighbours: int = 1,
        category_weight: float = 1.0,
        pending: Mapping[int, float] = _NOBODY,
    ) -> list[Nearest]:
        """Return the nearest finished trial of each point of the unit cube. Something must have finished.

        Its losses are those of the `neighbours` nearest and of all that tie with the last of these, of fewer
        when fewer are known. `pending` trials, each marked by `pend`, count as if observed last with these
        losses, NaN as diverged. Many points at once cost less than half of what they cost one by one, and get
        the same answers.
        """
        supposed = [self._pending_points[trial] for trial in pending]
        trials, losses = list(pending), list(pending.values())
        known = len(self)
        shared: dict[tuple[int, ...], tuple[float, ...]] = {}  # thousands may be equally near to many points
        found = []
        for squared, first, indices in self._neighbours.nearest_each(
            points, neighbours, category_weight, supposed
        ):
            if indices not in shared:
                shared[indices] = tuple(
                    self._loss(index) if index < known else losses[index - known] for index in indices
                )
            trial = self._trial(first) if first < known else trials[first - known]
            found.append(Nearest(trial, math.sqrt(squared), shared[indices]))
        return found

    def rank(self, loss: float | None) -> float:
        """Return the share of finished trials that are better: 0 for the best loss, 1 for the worst.

        Equal losses share the middle of their places; None and NaN rank as the diverged, which come last.
        """
        return self._ranking.share(math.nan if loss is None else loss)

    def quantile(self, share: float) -> float:
        """Return the loss below which this share of the finite ones lies, between two of them in proportion.

        Raises ValueError when none is finite.
        """
        return self._ranking.quantile(share)

    def ranked(self, place: int) -> Finished:
        """Return the finished trial in this place, 0 for the best. Raises IndexError."""
        index = self._ranking.index(place)
        return Finished(self._trial(index), self._loss(index), self._neighbours[index])

    def leading(self, places: int) -> tuple[Array, list[float], list[float]]:
        """Return of the first places the points, a row each, the losses and the ranks."""
        indices = self._ranking.leading(places)
        losses = [self._loss(index) for index in indices]
        return self._neighbours.points(indices), losses, self._ranking.leading_shares(losses)

    def places(self, loss: float) -> int:
        """Return how many finished trials have no worse loss."""
        return self._ranking.places(loss)

    def may_be_near(self, points: Array, places: int) -> Array:
        """Return for each point whether the nearest may be of those in the first places; False is certain."""
        return self._neighbours.may_be_nearest(points, self._ranking.leading(places))

    def index(self) -> None:
        """Prepare for fast queries, which otherwise do so themselves when it is due; no answer changes.

        Takes 0.4 s at a million trials; any thread may call it while others ask and observe.
        """
        self._neighbours.index()

    def _point_at_end(self, trial: int, config: Config) -> Sequence[float]:
        """Return the point of a config whose trial has ended; that of a pending one is known."""
        is_known = self._pending.get(trial) is config
        point = self._pending_points[trial] if is_known else self.space.encode(config)
        self.end(trial)
        return point

    def _finish(self, trial: int, point: Sequence[float], loss: float) -> None:
        if self._succeeded is not None:
            self._succeeded.append(loss)
        self._rank(trial, point, loss)

    def _rank(self, trial: int, point: Sequence[float], loss: float) -> None:
        self._neighbours.append(point)
        self._trials.append(trial)
        self._ranking.append(loss)
        self._count(loss)

    def _count(self, loss: float) -> None:
        if loss == loss:  # noqa: PLR0124 - not NaN
            self.best, self.worst = min(self.best, loss), max(self.worst, loss)
            self._finite += 1
            self.mean += loss / self._finite - self.mean / self._finite  # no sum that could overflow

    def _digest(self, config: Config) -> int:
        digest: int = digests(np.array([self.columns.codes(config)])).item()
        # JSON tells 1 from 1.0, and so do we: what is written so was not proposed.
        return digest ^ self.columns.has_whole_floats(config)

    def _trial(self, index: int) -> int | None:
        trial = self._trials[index]
        return None if trial == _RECALLED else trial

    def _loss(self, index: int) -> float:
        loss = self._ranking.losses[index]
        return loss if loss == loss else math.nan  # noqa: PLR0124 - one NaN for all, so that answers compare equal


def _or_nan(loss: float | None) -> float:
    """Return the loss, or NaN where there is none or it is not finite."""
    return loss if loss is not None and math.isfinite(loss) else math.nan
