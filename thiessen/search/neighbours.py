"""Which of many points are nearest: exact, and the same on every machine.

Two steps. Fast arithmetic *nominates*: a float32 matrix product over blocks that fit a core's cache, or a
k-d tree. It gives other last digits on other machines, so it only has to leave nobody out. Then float64
additions in a fixed order *decide* among the few that were nominated.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from thiessen.elementwise import Array

TIE: Final = 1e-12  # squared distances this close are one distance
BLOCK: Final = 10**6  # float32 coordinates: numpy asks for huge pages, all resident, from 2**20 on
SCORES: Final = 2**18  # float32: the megabyte of a core's second cache
TABLED: Final = 8  # points asked at once for each value of a dimension: for fewer no table pays
UNTHREADED: Final = 450_000  # multiplications: OpenBLAS does so many by one thread
MOST_PAIRS: Final = 2**14  # of points asked and who may be near them, decided at once: thousands may tie
PARTS: Final = (
    20,
    8,
    4,
)  # of all: a twentieth is read to say of most who is not nearest, then up to a quarter
TREE_FROM: Final = 150_000  # points: below, reading them all is as fast
TREE_DIMENSIONS: Final = 10  # above, a tree visits most of its leaves
_ROUNDING: Final = 2.0**-24  # the largest relative error of one float32 operation

Pairs = tuple[Array, Array]
"""Who asked, and who may be a neighbour, as indices: of each pair one in either array."""


class _Question(NamedTuple):
    """Points of which the neighbours are asked for, as scores need them, in float32."""

    weights: Array  # of the rows that are multiplied: those of plain dimensions, 1, and the tables
    tables: dict[int, Array]  # by dimension: the values that occur, where they are few
    columns: dict[int, Array]  # by dimension: the value of each, where they are many


class Neighbours:
    """Points of the unit cube, as `Space.encode` gives them, in the order they were added; none is removed.

    Squared distances add, in the order of the dimensions: the squared difference of ordered coordinates, the
    `category_weight` for two different choices, 1 where exactly one point is inactive, 0 where both are.

    Memory: 12 bytes a coordinate (float32 to nominate, float64 to decide) and 4 a point; a tree adds about 20
    a point.
    """

    def __init__(self, ordered: Sequence[bool], conditional: Sequence[bool]) -> None:
        dimensions = range(len(ordered))
        self._ordered = ordered
        self._conditional = conditional
        self._plain = [at for at in dimensions if ordered[at] and not conditional[at]]
        self._others = [at for at in dimensions if not ordered[at] or conditional[at]]
        self._block = max(BLOCK // (len(ordered) + 1), 1)  # points in a block
        self._count = 0
        self._points: Array = np.empty((16, len(ordered)))
        # The rows of a block: each plain coordinate v - 1/2, their squared length, then the others.
        self._blocks: list[Array] = []
        self._tree: tuple[Any, int] | None = None  # over that many of the first points
        self._pairs_each = MOST_PAIRS // 4  # how many are nominated for one point, as lately seen

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[float, ...]:
        if not 0 <= index < self._count:
            raise IndexError(index)
        return tuple(self._points[index].tolist())

    def points(self, indices: Sequence[int]) -> Array:
        """Return the points with these indices, a row each."""
        return np.asarray(self._points[np.asarray(indices, np.intp)])

    def append(self, point: Sequence[float]) -> None:
        """Add a point; NaN marks an inactive dimension."""
        self._grow(1)
        number, column = divmod(self._count, self._block)
        self._points[self._count] = point
        plain = [point[at] - 0.5 for at in self._plain]
        length = sum((each * each for each in plain), 0.0)
        self._blocks[number][:, column] = [*plain, length, *(point[at] for at in self._others)]
        self._count += 1

    def extend(self, points: Array) -> None:
        """Add many points, a row each."""
        self._grow(len(points))
        self._points[self._count : self._count + len(points)] = points
        plain = points[:, self._plain] - 0.5
        rows = np.hstack([plain, (plain * plain).sum(axis=1, keepdims=True), points[:, self._others]])
        while len(rows):
            number, column = divmod(self._count, self._block)
            fitting = rows[: self._block - column]
            self._blocks[number][:, column : column + len(fitting)] = fitting.T
            self._count += len(fitting)
            rows = rows[len(fitting) :]

    def _grow(self, more: int) -> None:
        """Make room for more points."""
        needed = self._count + more
        if needed > len(self._points):
            # A new array, not a resized one: a tree may still read the old.
            grown = np.empty((1 << (needed - 1).bit_length(), self._points.shape[1]))
            grown[: self._count] = self._points[: self._count]
            self._points = grown
        while needed > len(self._blocks) * self._block:
            self._blocks.append(np.empty((self._points.shape[1] + 1, self._block), np.float32))

    def index(self) -> None:
        """Build the tree over what is there now, if one pays; answers are the same with and without it.

        A query does so itself when half of the points are outside the tree, and then waits for it (0.4 s at a
        million points). To spare it that wait, call this earlier, from any thread, while others ask and add.
        """
        if self._others or len(self._plain) > TREE_DIMENSIONS or self._count < TREE_FROM:
            return
        from scipy.spatial import cKDTree

        count = self._count
        self._tree = cKDTree(self._points[:count], balanced_tree=False, copy_data=False), count

    def nearest_each(
        self,
        points: Array | Sequence[Sequence[float]],
        neighbours: int,
        category_weight: float,
        supposed: Sequence[Sequence[float]],
    ) -> Iterator[tuple[float, int, tuple[int, ...]]]:
        """Yield for each point its least squared distance, who has it first, and its neighbourhood.

        The neighbourhood is that many nearest and all that tie with the last of these, earliest first. The
        `supposed` points count as if they had been added last, in this order.
        """
        asked = np.asarray(points, dtype=float).reshape(-1, self._points.shape[1])
        beside = np.array(supposed, dtype=float).reshape(-1, self._points.shape[1])
        neighbours = min(neighbours, self._count + len(beside))  # lists of that length are made below
        if self._tree is None or self._count >= 2 * self._tree[1]:
            self.index()
        while len(asked):
            size = MOST_PAIRS // self._pairs_each or 1
            now, asked = asked[:size], asked[size:]
            pairs = self._nominated(now, beside, neighbours, category_weight)
            self._pairs_each = max(int(np.bincount(pairs[0]).max()), self._pairs_each // 4)
            yield from self._decided(pairs, beside, now, neighbours, category_weight)

    def may_be_nearest(self, points: Array, indices: Sequence[int]) -> Array:
        """Return for each point whether one of these may be of those nearest to it; False is certain.

        None is where somebody else is nearer than each of these, by more than both scores can be off. Those
        others are looked for in one part after another of all; each is read only for whom no one was found.
        """
        margin = np.float64(2 * self._largest_error(1.0) + TIE)
        who, number = np.asarray(indices, np.intp) % self._block, np.asarray(indices, np.intp) // self._block
        rows = np.hstack([block[:, who[number == at]] for at, block in enumerate(self._blocks)])
        scores = np.empty((len(points), len(indices)), np.float32)
        self._score(rows, self._question(points), 1.0, scores)
        least = scores.min(axis=1)
        may_be, first = np.ones(len(points), bool), 0
        for part in PARTS:
            last = self._count // part
            (asked,) = may_be.nonzero()
            for _, scores in self._scored(points[asked], 1.0, first, last) if len(asked) else ():
                may_be[asked] &= least[asked] <= scores.min(axis=1) + margin
            first = last
        return may_be

    def _nominated(self, asked: Array, beside: Array, neighbours: int, category_weight: float) -> Pairs:
        """Return everyone who may be in the neighbourhood of each point asked."""
        tree, first = self._tree or (None, 0)
        nominated = [] if tree is None else [_nominated_by_tree(tree, asked, neighbours)]
        nominated += self._nominated_by_reading(asked, neighbours, category_weight, first)
        if len(beside):
            of = np.repeat(np.arange(len(asked)), len(beside))
            nominated.append((of, np.tile(self._count + np.arange(len(beside)), len(asked))))
        return _in_order(nominated)

    def _nominated_by_reading(
        self, asked: Array, neighbours: int, category_weight: float, first: int
    ) -> list[Pairs]:
        """Return for each point u everyone from `first` on who may be in its neighbourhood.

        The score of a point is its squared distance less |u - 1/2|^2, which is the same for all. In order of
        size, each score as computed is off by at most the largest error from the true one in its place. So
        the neighbourhood of k scores at most two such errors and TIE above the k-th, and above the largest
        of any k scores even more. These k are the least of k slices of all that was scored at once.
        """
        margin = np.float64(2 * self._largest_error(category_weight) + TIE)
        least = np.full((len(asked), neighbours), math.inf, np.float32)
        nominated: list[Pairs] = []
        for start, everyones in self._scored(asked, category_weight, first, self._count):
            slices = np.arange(0, everyones.shape[1], -(-everyones.shape[1] // neighbours))
            lowest = np.minimum.reduceat(everyones, slices, axis=1)
            (nearer,) = (lowest.min(axis=1) <= least[:, -1] + margin).nonzero()
            if not len(nearer):
                continue
            scores = everyones
            if len(nearer) < len(asked):
                scores, lowest = scores[nearer], lowest[nearer]
            lowest = np.concatenate((least[nearer], lowest), axis=1)
            lowest.sort(axis=1)
            least[nearer] = lowest = lowest[:, :neighbours]
            near = scores <= (lowest[:, -1:] + margin).astype(np.float32)
            (there,) = near.ravel().nonzero()  # faster than the indices of a matrix
            if len(asked) == 1:
                nominated.append((np.zeros_like(there), there + start))
            else:
                of, who = np.divmod(there, near.shape[1])
                nominated.append((nearer[of], who + start))
        return nominated

    def _scored(
        self, asked: Array, category_weight: float, first: int, count: int
    ) -> Iterator[tuple[int, Array]]:
        """Yield the scores of everyone from `first` to `count`, some at a time, always in the same place."""
        question = self._question(asked)
        most = max(SCORES // len(asked), 1)
        scores = np.empty((len(asked), min(most, count - first)), np.float32)
        for start in range(first, count, most):
            end = min(start + most, count)
            done = start
            while done < end:
                number, offset = divmod(done, self._block)
                rows = self._blocks[number][:, offset : offset + end - done]
                there = scores[:, done - start : done - start + rows.shape[1]]
                self._score(rows, question, category_weight, there)
                done += rows.shape[1]
            yield start, scores[:, : end - start]

    def _question(self, asked: Array) -> _Question:
        """Return what scores are made of. Where few values are asked for, gaps are computed once for each."""
        queries = asked.astype(np.float32)
        weights = np.ones((len(asked), len(self._plain) + 1), np.float32)
        weights[:, :-1] = 1.0 - 2.0 * asked[:, self._plain]
        columns = {at: queries[:, at, np.newaxis] for at in self._others}
        tables = {}
        for at in self._others if len(asked) >= TABLED else ():
            values, which = np.unique(queries[:, at], return_inverse=True)
            if len(asked) >= TABLED * len(values):
                tables[at] = values[:, np.newaxis]
                del columns[at]
                weights = np.hstack([weights, np.float32(which[:, np.newaxis] == np.arange(len(values)))])
        return _Question(weights, tables, columns)

    def _score(self, rows: Array, question: _Question, category_weight: float, scores: Array) -> None:
        plain = len(self._plain) + 1
        theirs = dict(zip(self._others, rows[plain:], strict=True))
        gaps = [
            self._squared_gap(at, theirs[at], ours, category_weight) for at, ours in question.tables.items()
        ]
        _multiply(question.weights, np.vstack([rows[:plain], *gaps]) if gaps else rows[:plain], scores)
        for at, ours in question.columns.items():
            scores += self._squared_gap(at, theirs[at], ours, category_weight)

    def _largest_error(self, category_weight: float) -> float:
        """Bound the error of a score, however the products are ordered or fused.

        A sum of k products in any order is off by at most k e / (1 - k e) times the sum of their absolute
        values, e = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, sec. 3.1). Here k is the
        number of rows. Coordinates lie in [-1/2, 1/2] around the centre, so the absolute values of a plain
        dimension add up to at most 3/4: 2 |u| |v| and v^2; those of another to the largest gap. Rounding both
        factors beforehand adds 2 e; a gap squared is off by at most 6 e; the comparison rounds twice. 10
        covers these; 1.1 the denominator (k is at most 257), the last digits of float64 and coordinates that
        rounding put outside the cube. A table has more rows, but what they add besides is 0, which is exact.
        """
        rows = len(self._plain) + len(self._others) + 1
        largest = 0.75 * len(self._plain) + max(1.0, category_weight) * len(self._others)
        return 1.1 * (rows + 10) * _ROUNDING * largest

    def _squared_gap(self, at: int, theirs: Array, ours: Array, category_weight: float) -> Array:
        ordered, conditional = self._ordered[at], self._conditional[at]
        return squared_gap(
            theirs, ours, ordered=ordered, conditional=conditional, category_weight=category_weight
        )

    def _decided(
        self, nominated: Pairs, beside: Array, asked: Array, neighbours: int, category_weight: float
    ) -> Iterator[tuple[float, int, tuple[int, ...]]]:
        of, who = nominated
        ours, theirs = asked[of], self._points[np.minimum(who, self._count - 1)]
        if len(beside):
            theirs[who >= self._count] = beside[who[who >= self._count] - self._count]
        gap = theirs - ours
        squared = gap * gap
        for at in self._others:
            squared[:, at] = self._squared_gap(at, theirs[:, at], ours[:, at], category_weight)
        # Cumulative: each partial sum is the one before plus one term. np.sum adds in an order of its own.
        distances = squared.cumsum(axis=1)[:, -1]
        starts = of.searchsorted(np.arange(len(asked)))
        least = last = np.minimum.reduceat(distances, starts)
        if neighbours > 1:
            last = distances[np.lexsort((distances, of))][starts + neighbours - 1]
        (inside,) = (distances <= last[of] + TIE).nonzero()
        bounds = of[inside].searchsorted(np.arange(len(asked) + 1))
        firsts = who[inside[bounds[:-1]]]
        if neighbours > 1:
            firsts = who[_first_of_each(of, distances <= least[of] + TIE, len(asked))]
        indices = who[inside].tolist()
        neighbourhoods = (tuple(indices[start:end]) for start, end in pairwise(bounds.tolist()))
        return zip(least.tolist(), firsts.tolist(), neighbourhoods, strict=True)


def squared_gap(
    theirs: Array, ours: Array, *, ordered: bool, conditional: bool, category_weight: float = 1.0
) -> Array:
    """Return the squared gaps along one dimension, in the precision of the coordinates."""
    gap = theirs - ours  # NaN where either is inactive
    squared = gap * gap if ordered else (gap != 0) * gap.dtype.type(category_weight)
    if not conditional:
        return np.asarray(squared)
    return np.asarray(np.where(np.isnan(gap), np.isnan(theirs) != np.isnan(ours), squared))


def _multiply(weights: Array, rows: Array, scores: Array) -> None:
    """Write the product of two matrices to `scores`, in the pieces that BLAS is fastest at."""
    # OpenBLAS gives larger products to several threads, which then wait for each other for milliseconds.
    tile = max(UNTHREADED // weights.size, 1)
    for start in range(0, scores.shape[1], tile):
        piece, there = rows[:, start : start + tile], scores[:, start : start + tile]
        if len(weights) > 2:
            np.matmul(weights, piece, out=there)
        else:
            for weight, score in zip(weights, there, strict=True):
                np.matmul(weight, piece, out=score)


def _nominated_by_tree(tree: Any, asked: Array, neighbours: int) -> Pairs:
    """Return everyone in the tree who may be a neighbour; SciPy's float64 is off by far less than TIE."""
    distances, indices = tree.query(asked, k=neighbours + 1)  # infinitely far where there are fewer
    last, next_one = distances[:, -2], distances[:, -1]
    reach = last * last + 2 * TIE
    found = list(np.sort(indices[:, :-1], axis=1))
    for at in (~(next_one * next_one > reach)).nonzero()[0].tolist():
        found[at] = np.sort(tree.query_ball_point(asked[at], math.sqrt(reach[at]) + TIE))
    return np.repeat(np.arange(len(asked)), [len(each) for each in found]), np.concatenate(found)


def _in_order(nominated: Sequence[Pairs]) -> Pairs:
    """Return all pairs, by who asked and then by age. Each part is so ordered."""
    if len(nominated) == 1:
        return nominated[0]
    of, who = map(np.concatenate, zip(*nominated, strict=True))
    order = np.lexsort((who, of))
    return of[order], who[order]


def _first_of_each(of: Array, chosen: Array, asked: int) -> Array:
    """Return where each asked point has its first chosen pair."""
    (there,) = chosen.nonzero()
    return np.asarray(there[of[there].searchsorted(np.arange(asked))])
