"""What is known about the space: the loss of each finished trial, spread over the region nearest to it."""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from thiessen.search.neighbours import Neighbours
from thiessen.search.ranking import Ranking
from thiessen.space import Config, Space, config_key


@dataclass(frozen=True)
class Nearest:
    """The finished trial whose region a candidate falls into."""

    trial: int  # the first observed of those at this distance
    distance: float
    losses: tuple[float, ...]  # of all observations at this distance, as observed; NaN where diverged

    @property
    def diverged(self) -> bool:
        """Whether every trial at this distance diverged, so that nothing finite is known here."""
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

    trial: int
    loss: float  # NaN when it diverged
    point: tuple[float, ...]  # unit coordinates, NaN where inactive


class Landscape:
    """The 1-nearest-neighbour model of the loss over a space, with the trials that run and the configs taken.

    It only grows. A diverged trial never moves `best` or `worst` and ranks last.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.watermark = 0  # the last observation it has seen
        self.best = math.inf
        self.worst = -math.inf
        self._taken: set[str] = set()
        self._pending: dict[int, Config] = {}
        self._trials = array("q")
        self._ranking = Ranking()
        dimensions = space.dimensions.values()
        self._neighbours = Neighbours(
            ordered=[dimension.ordered for dimension in dimensions],
            conditional=[bool(dimension.when) for dimension in dimensions],
        )

    def __len__(self) -> int:
        return len(self._trials)

    def take(self, config: Config) -> None:
        """Remember that a trial of this config exists, finished or not."""
        self._taken.add(config_key(config))

    def is_taken(self, config: Config) -> bool:
        return config_key(config) in self._taken

    def pend(self, trial: int, config: Config) -> None:
        """Mark a trial as not finished, until it is observed."""
        self._pending[trial] = config

    @property
    def pending(self) -> Mapping[int, Config]:
        """The trials marked as not finished, oldest mark first."""
        return MappingProxyType(self._pending)

    def observe(self, trial: int, config: Config, loss: float | None) -> None:
        """Add a finished trial; a loss that is None or not finite means that it diverged."""
        finite = loss is not None and math.isfinite(loss)
        known = loss if loss is not None and finite else math.nan
        self._neighbours.append(self.space.encode(config))
        self._trials.append(trial)
        self._ranking.append(known)
        self._pending.pop(trial, None)
        if finite:
            self.best, self.worst = min(self.best, known), max(self.worst, known)

    def nearest(self, config: Config, *, category_weight: float = 1.0) -> Nearest | None:
        """Return the finished trial nearest to `config`, or None when nothing has finished."""
        if not self._trials:
            return None
        return self.nearest_each([self.space.encode(config)], category_weight=category_weight)[0]

    def nearest_each(
        self, points: Sequence[Sequence[float]], *, category_weight: float = 1.0
    ) -> list[Nearest]:
        """Return the nearest finished trial of each point of the unit cube. Something must have finished.

        Many at once cost less than half of what they cost one by one, and give the same answers.
        """
        return [
            Nearest(self._trials[tied[0]], math.sqrt(squared), tuple(map(self._loss, tied)))
            for squared, tied in self._neighbours.nearest_each(points, category_weight)
        ]

    def rank(self, loss: float | None) -> float:
        """Return the share of finished trials that are better: 0 for the best loss, 1 for the worst.

        Equal losses share the middle of their places; None and NaN rank as the diverged, which come last.
        """
        return self._ranking.share(math.nan if loss is None else loss)

    def ranked(self, place: int) -> Finished:
        """Return the finished trial in this place, 0 for the best. Raises IndexError."""
        index = self._ranking.index(place)
        return Finished(self._trials[index], self._loss(index), self._neighbours[index])

    def index(self) -> None:
        """Prepare for fast queries, which otherwise do so themselves when it is due; no answer changes.

        Takes 0.4 s at a million trials; any thread may call it while others ask and observe.
        """
        self._neighbours.index()

    def _loss(self, index: int) -> float:
        loss = self._ranking.losses[index]
        return loss if loss == loss else math.nan  # noqa: PLR0124 - one NaN for all, so that answers compare equal
