"""A forest of regression trees over levels, and whose its variance is: functional analysis of variance.

Hutter, Hoos and Leyton-Brown (2014), *An efficient approach for assessing hyperparameter importance*: a tree
is constant on boxes, so its mean over all dimensions but some is a sum over its leaves, without sampling.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from thiessen.elementwise import Array

TREES: Final = 24
LEAST: Final = 3  # cases in a leaf
SHARE: Final = 2 / 3  # of the dimensions that a split chooses among


@dataclass(frozen=True)
class Tree:
    """A partition of all combinations of levels into boxes."""

    values: Array  # of each leaf
    boxes: Array  # for each leaf, dimension and level, whether it is in

    def predict(self, levels: Array) -> Array:
        """Return the value of each case, a row of levels."""
        is_in = np.ones((len(self.values), len(levels)), bool)
        for at in range(levels.shape[1]):
            is_in &= self.boxes[:, at, levels[:, at]]
        return np.asarray(self.values[is_in.argmax(axis=0)])

    def shares(self, weights: Array, pairs: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
        """Return the shares of the variance of single dimensions, and of pairs beyond their single ones.

        Levels are independent, with these weights, which add up to 1 in each dimension.
        """
        sides = (self.boxes * weights).sum(axis=2)
        volumes = sides.prod(axis=1)
        mean = float(self.values @ volumes)
        total = float((self.values - mean) ** 2 @ volumes)
        if total <= 1e-15:
            return np.zeros(len(weights)), np.zeros(len(pairs))
        centred = (self.values - mean) * volumes
        single = np.array([self._of_one(centred, sides, weights, at) for at in range(len(weights))])
        both = [self._of_two(centred, sides, weights, i, j) - single[i] - single[j] for i, j in pairs]
        return single / total, np.array(both) / total

    def _of_one(self, centred: Array, sides: Array, weights: Array, at: int) -> float:
        marginal = (centred / sides[:, at]) @ self.boxes[:, at]
        return float(marginal**2 @ weights[at])

    def _of_two(self, centred: Array, sides: Array, weights: Array, i: int, j: int) -> float:
        scaled = centred / (sides[:, i] * sides[:, j])
        marginal = (self.boxes[:, i] * scaled[:, np.newaxis]).T @ self.boxes[:, j].astype(float)
        return float(weights[i] @ marginal**2 @ weights[j])


def grown(levels: Array, values: Array, ordered: Array, many: int, rng: np.random.Generator) -> Tree:
    """Return a tree that was fitted to cases, rows of levels below `many`, with these values."""
    dimensions = levels.shape[1]
    leaves: list[tuple[float, Array]] = []
    waiting = [(np.arange(len(values)), np.ones((dimensions, many), bool))]
    chosen = max(1, round(SHARE * dimensions))
    while waiting:
        cases, box = waiting.pop()
        among = np.sort(rng.permutation(dimensions)[:chosen])
        split = _best(levels[cases], values[cases], ordered, many, among)
        if split is None:
            leaves.append((float(values[cases].mean()), box))
            continue
        at, is_in = split
        goes = is_in[levels[cases, at]]
        for side, part in ((cases[goes], is_in), (cases[~goes], ~is_in)):
            inner = box.copy()
            inner[at] &= part
            waiting.append((side, inner))
    return Tree(np.array([value for value, _ in leaves]), np.array([box for _, box in leaves]))


def _best(levels: Array, values: Array, ordered: Array, many: int, among: Array) -> tuple[int, Array] | None:
    """Return the dimension and the levels of one side of the split that leaves the least squares."""
    if len(values) < 2 * LEAST:
        return None
    centred = values - values.mean()
    flat = (levels[:, among] + many * np.arange(len(among))).ravel()
    shape = (len(among), many)
    counts = np.bincount(flat, minlength=shape[0] * many).reshape(shape)
    sums = np.bincount(flat, np.repeat(centred, len(among)), shape[0] * many).reshape(shape)
    is_ordered = ordered[among, np.newaxis]
    left = np.where(is_ordered, counts.cumsum(axis=1), counts)
    height = np.where(is_ordered, sums.cumsum(axis=1), sums)
    right = len(values) - left
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where((left >= LEAST) & (right >= LEAST), height**2 * (1 / left + 1 / right), -1.0)
    place = int(gain.argmax())
    if gain.flat[place] <= 1e-12:
        return None
    at, level = divmod(place, many)
    everything = np.arange(many)
    return int(among[at]), everything <= level if ordered[among[at]] else everything == level


@dataclass(frozen=True)
class Analysis:
    """What a forest says: a row for each tree."""

    single: Array
    both: Array
    pairs: Sequence[tuple[int, int]]
    explained: float  # share of the variance of cases that a tree had not seen; may be below 0


def analysed(
    levels: Array, values: Array, ordered: Array, weights: Array, *, most_paired: int, trees: int = TREES
) -> Analysis:
    """Grow a forest, each tree of its own draw of the cases; pair the most important dimensions."""
    rng = np.random.default_rng(0)
    many = weights.shape[1]
    told, heard = np.zeros(len(values)), np.zeros(len(values))
    forest = []
    for _ in range(trees):
        drawn = rng.integers(len(values), size=len(values))
        tree = grown(levels[drawn], values[drawn], ordered, many, rng)
        unseen = np.setdiff1d(np.arange(len(values)), drawn)
        told[unseen] += tree.predict(levels[unseen])
        heard[unseen] += 1
        forest.append(tree)
    single = np.array([tree.shares(weights, [])[0] for tree in forest])
    leading = np.sort(np.argsort(-single.mean(axis=0), kind="stable")[:most_paired])
    pairs = list(combinations(leading.tolist(), 2))
    both = np.array([tree.shares(weights, pairs)[1] for tree in forest])
    return Analysis(single, both, pairs, _explained(values, told, heard))


def _explained(values: Array, told: Array, heard: Array) -> float:
    is_in = heard > 0
    spread = ((values - values[is_in].mean())[is_in] ** 2).sum()
    if spread <= 0:
        return 0.0
    return float(1 - ((values[is_in] - told[is_in] / heard[is_in]) ** 2).sum() / spread)
