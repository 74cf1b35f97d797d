"""What is known about the space: the loss of each finished trial, spread over the region nearest to it."""

import math
from dataclasses import dataclass

import numpy as np

from thiessen.space import Config, Space, config_key

TIE = 1e-12  # squared distances this close are one distance: their losses are averaged


@dataclass(frozen=True)
class Nearest:
    """The finished trial whose region a candidate falls into."""

    trial: int
    distance: float
    estimate: float  # its loss, or the mean loss of all trials at this distance
    diverged: bool  # every trial at this distance diverged, so nothing finite is known here


class Landscape:
    """The 1-nearest-neighbour model of the loss over a space, and the configs already taken.

    A diverged trial counts as the worst finite loss and never moves `best` or `worst`.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.watermark = 0  # the last observation it has seen
        self.best = math.inf
        self.worst = -math.inf
        self._taken: set[str] = set()
        self._trials: list[int] = []
        self._points = np.empty((16, len(space.dimensions)))
        self._losses = np.empty(16)
        self._ordered = np.array([dimension.ordered for dimension in space.dimensions.values()])

    def __len__(self) -> int:
        return len(self._trials)

    def take(self, config: Config) -> None:
        """Remember that a trial of this config exists, finished or not."""
        self._taken.add(config_key(config))

    def is_taken(self, config: Config) -> bool:
        return config_key(config) in self._taken

    def observe(self, trial: int, config: Config, loss: float | None) -> None:
        """Add a finished trial; a loss of None means that it diverged."""
        if len(self) == len(self._losses):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
            self._losses = np.concatenate([self._losses, np.empty_like(self._losses)])
        self._points[len(self)] = self.space.encode(config)
        self._losses[len(self)] = math.nan if loss is None else loss
        self._trials.append(trial)
        if loss is not None:
            self.best, self.worst = min(self.best, loss), max(self.worst, loss)

    def nearest(self, config: Config) -> Nearest | None:
        """Return the finished trial nearest to `config`, or None when nothing has finished."""
        if not self._trials:
            return None
        distances = self._squared_distances(np.array(self.space.encode(config)))
        closest = int(distances.argmin())
        losses = self._losses[: len(self)][distances <= distances[closest] + TIE]
        return Nearest(
            trial=self._trials[closest],
            distance=math.sqrt(distances[closest]),
            estimate=float((np.where(np.isnan(losses), self.worst, losses) / len(losses)).sum()),
            diverged=bool(np.isnan(losses).all()),
        )

    def _squared_distances(self, point: np.ndarray) -> np.ndarray:
        apart = self._points[: len(self)] - point  # NaN where either is inactive
        each = np.where(self._ordered, apart**2, apart != 0)
        inactive = np.isnan(self._points[: len(self)]), np.isnan(point)
        each = np.where(np.isnan(apart), inactive[0] != inactive[1], each)
        return np.asarray(each.sum(axis=1))
