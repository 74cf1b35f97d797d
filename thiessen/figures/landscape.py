"""The nearest-neighbour model that the search believes in, on two of its dimensions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from thiessen.columns import values_of
from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import Axis
from thiessen.figures.cells import cells, centre
from thiessen.figures.scale import ROOM, Scale
from thiessen.figures.table import of_trials, said
from thiessen.figures.theme import THEMES, Figure, Table, Theme, colours, drawn, upright
from thiessen.figures.trials import Trials, on
from thiessen.figures.wanted import Others, Wanted, two
from thiessen.search.landscape import Landscape
from thiessen.space import Config, Dimension

MOST_CELLS: Final = 2000  # trials in the model: beyond, it is drawn on a grid
HEIGHT: Final = 440  # pixels
GRID: Final = 96  # points of it along an axis
MOST_TREES: Final = 16  # built for one figure
NEAR: Final = 1e-9  # squared distances so close may be one, for all that a tree can tell
CROWDED: Final = 300  # marks, from which on they are smaller
WHITE: Final = "#ffffff"
THIN: Final[Mapping[str, str]] = {"pruned": "line-ew", "refused": "x-thin"}  # marks without an inside
FIXED: Final = 4  # other dimensions that the caption names


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The points of the section that are nearest to one trial."""

    x: Sequence[float]  # its corners, as they are drawn
    y: Sequence[float]
    trial: int | None
    loss: float | None  # that the model expects here; None where it knows nothing finite
    place: float  # of it on the scale of losses


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The model at the middle of each field of a grid."""

    x: Sequence[float]  # the edges of the columns, as they are drawn
    y: Sequence[float]
    place: Sequence[Sequence[float]]  # on the scale of losses: a row for each step up


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Something that stands at a point."""

    x: float
    y: float
    state: str  # of a trial; `kept` and `refused` of candidates
    told: str
    at: str = ""  # its values in the two dimensions, in words


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    x: Axis
    y: Axis
    others: Others
    fixed: Sequence[tuple[str, str]]  # the other dimensions, where they stand
    model: int  # trials that the model is made of
    neighbours: int
    cells: Sequence[Cell]
    grid: Grid | None
    marks: Sequence[Mark]
    left_out: int  # trials without a mark, as there are too many
    best: Mark | None
    scale: Scale
    walk: Sequence[int]  # the numbers of succeeded trials that have marks, from the best to the worst
    by_rank: bool  # whether colours go by ranks
    table: Table


def numbers(trials: Trials, wanted: Wanted) -> Numbers:
    """Return the numbers of the figure. Raises FigureError."""
    names = two(trials.space, wanted)
    across, up = (Axis(name, trials.space.dimensions[name]) for name in names)
    section = Section(trials if wanted.others == "best" else on(trials, names), *names)
    scale = trials.scale
    is_exact = section.is_plain and len(section) <= MOST_CELLS
    shown, left_out = marks.some(np.where(trials.succeeded, trials.losses, np.nan))
    best = trials.best
    return Numbers(
        x=across,
        y=up,
        others=wanted.others,
        fixed=section.fixed,
        model=len(section),
        neighbours=trials.neighbours,
        cells=_cells(section, across, up, scale) if is_exact else [],
        grid=None if is_exact or not len(section) else _grid(section, across, up, scale),
        marks=[*_trials(trials, names, shown, across, up), *_candidates(trials, wanted, across, up)],
        left_out=len(left_out),
        best=None if best is None else next(iter(_trials(trials, names, [best], across, up)), None),
        scale=scale,
        walk=_walk(trials, shown),
        by_rank=trials.by_rank,
        table=of_trials(trials, names),
    )


def _walk(trials: Trials, shown: Array) -> list[int]:
    """Return the numbers of those that succeeded among these places, from the best to the worst."""
    places = shown[trials.succeeded[shown]]
    numbers: list[int] = trials.numbers[
        places[np.lexsort((trials.numbers[places], trials.losses[places]))]
    ].tolist()
    return numbers


class Section:
    """The plane of two dimensions on which the others stand as in the best config."""

    def __init__(self, trials: Trials, x: str, y: str) -> None:
        self.trials = trials
        self._points = trials.points[trials.teaches]
        self._names = list(trials.space.dimensions)
        self._dimensions: list[Dimension] = list(trials.space.dimensions.values())
        self._axes = [trials.place(x), trials.place(y)]
        self._others = [at for at in range(len(self._names)) if at not in self._axes]
        self._units = self._start()
        columns = trials.columns
        [self.here] = columns.encoded(columns.decoded(self._units[np.newaxis]))  # a config on the plane

    def __len__(self) -> int:
        return len(self._points)

    def _start(self) -> Array:
        """Return where each dimension stands, as decoding takes it: the middle where the best has none."""
        if self.trials.best is None:
            return np.full(len(self._names), 0.5)
        point = self.trials.points[self.trials.best].copy()
        for at in range(len(point)):
            point[at] = self._unit(at, point[at])
        return np.where(np.isnan(point), 0.5, point)

    def _unit(self, at: int, coordinates: Any) -> Any:
        """Return coordinates along a dimension as decoding takes them: choices have theirs by their place."""
        dimension = self._dimensions[at]
        return coordinates if dimension.ordered else (coordinates + 0.5) / len(dimension.values() or ())

    def points(self, x: Array, y: Array) -> Array:
        """Return the points of configs with these two coordinates; what depends on them comes and goes."""
        units = np.tile(self._units, (len(x), 1))
        for at, coordinates in zip(self._axes, (x, y), strict=True):
            units[:, at] = self._unit(at, coordinates)
        columns = self.trials.columns
        return columns.encoded(columns.decoded(units))

    def between(self, x: Array, y: Array) -> Array:
        """Return the points of the plane with these coordinates, also where no config has them."""
        points = np.tile(self.here, (len(x), 1))
        points[:, self._axes] = np.column_stack([x, y])
        return points

    @property
    def fixed(self) -> list[tuple[str, str]]:
        """The other dimensions and where they stand."""
        axes = [(at, Axis(self._names[at], self._dimensions[at])) for at in self._others]
        return [(axis.name, axis.value(float(self.here[at]))) for at, axis in axes]

    @property
    def is_plain(self) -> bool:
        """Whether cells are those of a power diagram: both axes ordered, and nothing depends on them."""
        axes = {self._names[at] for at in self._axes}
        is_condition = any(axes & set(dimension.when or {}) for dimension in self._dimensions)
        is_ordered = all(self._dimensions[at].ordered for at in self._axes)
        is_there = not np.isnan(self.trials.points[:, self._axes]).any()
        return is_ordered and is_there and not is_condition and self.trials.neighbours == 1

    def diagram(self) -> list[list[tuple[float, float]]]:
        """Return the corners of the cells, in unit coordinates."""
        if not len(self):
            return []
        return cells(self._points[:, self._axes], self._offsets(self.here, self._others))

    def _offsets(self, here: Array, others: Sequence[int]) -> Array:
        """Return the squared distances of the trials from here along these, as the search adds them up."""
        total = np.zeros(len(self))
        for at in others:
            theirs = self._points[:, at]
            away = theirs - here[at]
            squared = away**2 if self._dimensions[at].ordered else (away != 0).astype(float)
            is_in, is_here = ~np.isnan(theirs), not np.isnan(here[at])
            total += np.where(is_in & is_here, squared, is_in != is_here)
        return total

    def expected(self, points: Array) -> tuple[Array, list[int | None]]:
        """Return the loss expected at points, NaN where none is known, and the nearest trials."""
        model = self._model(points)
        found = model.nearest_each(points, neighbours=self.trials.neighbours)
        counted = self.trials.counted[self.trials.teaches]
        worst = counted[np.isfinite(counted)].max(initial=-np.inf)
        losses = [np.nan if each.diverged else each.estimate(worst) for each in found]
        return np.array(losses), [each.trial for each in found]

    def _model(self, points: Array) -> Landscape:
        """Return the model, without trials that are near to none of these points where there are many."""
        trials, teaches = self.trials, self.trials.teaches
        near = self._near(points) if len(self) > MOST_CELLS else None
        if near is None:
            return trials.landscape
        model, numbers, losses = Landscape(trials.space), trials.numbers[teaches], trials.counted[teaches]
        model.observe_each(numbers[near].tolist(), self._points[near], losses[near].tolist())
        return model

    def _near(self, points: Array) -> Array | None:
        """Return the places of the trials that are in the neighbourhood of one of the points.

        Points that differ along the axes alone see each trial at the same offset: so as many as there are
        dimensions become two axes and the root of an offset, in which a tree finds neighbours. None where the
        points differ in too many other ways.
        """
        from scipy.spatial import cKDTree

        names, trials, space = self._names, self.trials, self.trials.space
        along = [at for at in self._axes if self._dimensions[at].ordered and not space.may_lack(names[at])]
        others = [at for at in range(len(names)) if at not in along]
        _, firsts, groups = np.unique(
            np.nan_to_num(points[:, others], nan=-1.0), axis=0, return_index=True, return_inverse=True
        )
        if len(firsts) > MOST_TREES:
            return None
        near: list[Array] = []
        for group, first in enumerate(firsts):
            roots = np.sqrt(self._offsets(points[first], others))
            tree = cKDTree(np.column_stack([self._points[:, along], roots]), balanced_tree=False)
            asked = points[groups.ravel() == group][:, along]
            asked = np.column_stack([asked, np.zeros(len(asked))])
            near.append(_nearest(tree, asked, trials.neighbours))
        return np.unique(np.concatenate(near))


def _nearest(tree: Any, asked: Array, neighbours: int) -> Array:
    """Return everyone who is among so many nearest of one of the points, or as near as the last of these."""
    distances, found = tree.query(asked, k=neighbours + 1)
    reach = np.sqrt(distances[:, -2] ** 2 + NEAR)
    is_tied = distances[:, -1] <= reach
    tied = tree.query_ball_point(asked[is_tied], reach[is_tied])
    return np.unique(np.concatenate([found[:, :-1].ravel(), *map(np.asarray, tied)]).astype(np.intp))


def _cells(section: Section, across: Axis, up: Axis, scale: Scale) -> list[Cell]:
    diagram = section.diagram()
    if not diagram:
        return []
    middles = np.array([centre(corners) for corners in diagram])
    losses, nearest = section.expected(section.between(middles[:, 0], middles[:, 1]))
    places = _places(scale, losses)
    x, y = (
        marks.rounded(axis.at(np.array([corner[at] for corners in diagram for corner in corners])))
        for at, axis in enumerate((across, up))
    )
    ends = np.cumsum([0, *map(len, diagram)]).tolist()
    return [
        Cell(x=x[begin:end], y=y[begin:end], trial=trial, loss=None if np.isnan(loss) else loss, place=place)
        for (begin, end), trial, loss, place in zip(
            pairwise(ends), nearest, losses.tolist(), places, strict=True
        )
    ]


def _places(scale: Scale, losses: Array) -> list[float]:
    """Return places on the scale; what diverged has the last."""
    return marks.rounded(np.round(np.nan_to_num(scale.places(losses), nan=1.0), 3))


def _grid(section: Section, across: Axis, up: Axis, scale: Scale) -> Grid:
    x_edges, x = _steps(across)
    y_edges, y = _steps(up)
    columns, rows = np.meshgrid(x, y)
    losses, _ = section.expected(section.points(columns.ravel(), rows.ravel()))
    places = np.array(_places(scale, losses)).reshape(columns.shape)
    return Grid(x=x_edges, y=y_edges, place=places.tolist())


def _steps(axis: Axis) -> tuple[list[float], Array]:
    """Return the edges of the fields along an axis as they are drawn, and where their middles are."""
    edges = axis.edges(GRID)
    many = len(edges) - 1
    return edges, (np.arange(many) + 0.5) / many if axis.is_ordered else np.arange(many, dtype=float)


def _trials(
    trials: Trials, names: Sequence[str], places: Sequence[int] | Array, across: Axis, up: Axis
) -> list[Mark]:
    """Return the marks of finished trials."""
    there = np.asarray(places, np.intp)
    values = trials.values(trials.losses[there]).tolist()
    numbers, at = trials.numbers[there], [trials.place(name) for name in names]
    told = [
        f"trial {number}" + ("" if np.isnan(value) else f": {text.short(value)}")
        for number, value in zip(numbers.tolist(), values, strict=True)
    ]
    configs = [
        [said(value) for value in values_of(axis.dimension, trials.codes[place, there])]
        for axis, place in zip((across, up), at, strict=True)
    ]
    words = [f"at {_named(across)} {x}, {_named(up)} {y}" for x, y in zip(*configs, strict=True)]
    return _marks(
        trials.points[there][:, at], numbers, trials.states[there].tolist(), told, words, across, up
    )


def _named(axis: Axis) -> str:
    return text.name(axis.name)


def _candidates(trials: Trials, wanted: Wanted, across: Axis, up: Axis) -> list[Mark]:
    """Return the marks of what has not finished, and of the candidates of the latest proposals."""
    latest = trials.lately[-wanted.candidates :] if wanted.candidates else ()
    kept = {each.number for each in latest}
    found = [
        (each.config, each.number, str(each.state), f"trial {each.number}")
        for each in trials.unfinished
        if each.number not in kept
    ]
    for each in latest:
        found.append((each.config, each.number, "kept", f"kept: trial {each.number}"))
        told = f"refused before trial {each.number}"
        found += [(config, each.number, "refused", told) for config in each.refused]
    points = np.array([_point(trials, config, across, up) for config, *_ in found]).reshape(-1, 2)
    _, numbers, states, told_of_each = zip(*found, strict=True) if found else ((), (), (), ())
    words = [
        f"at {_named(across)} {said(config.get(across.name))}, {_named(up)} {said(config.get(up.name))}"
        for config, *_ in found
    ]
    return _marks(points, np.array(numbers), states, told_of_each, words, across, up)


def _point(trials: Trials, config: Config, across: Axis, up: Axis) -> list[float]:
    dimensions = trials.space.dimensions
    names = (across.name, up.name)
    return [dimensions[name].encode(config[name]) if name in config else np.nan for name in names]


def _marks(
    points: Array,
    numbers: Array,
    states: Sequence[str],
    told: Sequence[str],
    words: Sequence[str],
    across: Axis,
    up: Axis,
) -> list[Mark]:
    """Return marks, none where one of the two dimensions is inactive."""
    x, y = (axis.among(points[:, at], numbers).tolist() for at, axis in enumerate((across, up)))
    return [
        Mark(
            x=float(f"{x[at]:.6g}"),
            y=float(f"{y[at]:.6g}"),
            state=states[at],
            told=told[at],
            at=words[at],
        )
        for at in np.flatnonzero(~np.isnan(points).any(axis=1)).tolist()
    ]


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    traces = [*_fields(shown, theme), *_filled(shown, theme)]
    for state in (*marks.STATES, "refused", "kept"):
        there = [each for each in shown.marks if each.state == state]
        where = {"x": [each.x for each in there], "y": [each.y for each in there]}
        if not there:
            continue
        look = _look(state, is_small=len(shown.marks) > CROWDED)
        told = [f"{each.told} {each.at}" for each in there]
        if state in THIN:  # on a halo, and in the legend without
            halo = {**look, "line": {"width": 4.5, "color": WHITE}}
            plain = {**look, "line": {"width": 2, "color": tokens.ink}}
            unseen = {"showlegend": False, "hoverinfo": "skip", "hovertemplate": None}
            traces.append(marks.trace("", halo, **where, **unseen))
            traces.append(marks.trace(state, look, **where, text=told, showlegend=False))
            traces.append(marks.trace(state, plain, x=[None], y=[None]))
        else:
            traces.append(marks.trace(state, look, **where, text=told))
    if shown.best is not None:
        traces.append(marks.star(theme, shown.best.x, shown.best.y, f"{shown.best.told} {shown.best.at}"))
    if shown.cells or shown.grid is not None:
        traces.append(shown.scale.legend(theme, HEIGHT))
    return drawn(
        theme,
        traces,
        kind="landscape",
        title="Landscape",
        caption=caption(shown),
        table=shown.table,
        height=HEIGHT,
        legend=True,
        left=shown.y.room,
        right=40,
        bottom=ROOM,
        meta={"walk": shown.walk},
        plot_bgcolor=tokens.sunken,
        xaxis=shown.x.layout(theme, most=6),
        yaxis=shown.y.layout(theme, title=False),
        annotations=[upright(theme, shown.y.title, shown.y.room)],
    )


def _look(state: str, *, is_small: bool) -> dict[str, Any]:
    """Return a mark that can be read on every cell: dark on white, in either theme."""
    tokens = THEMES["light"]
    if state in THIN:
        return {"symbol": THIN[state], "size": 8, "line": {"width": 2, "color": tokens.ink}}
    symbol, colour, size = {
        "succeeded": ("circle", tokens.ink, 7),
        "diverged": ("triangle-up", tokens.diverged, 9),
        "failed": ("x", tokens.failed, 8),
        "cancelled": ("diamond", tokens.ink3, 7),
        "running": ("circle-dot", tokens.running, 9),
        "queued": ("square", tokens.ink3, 8),
        "kept": ("circle-dot", tokens.ink, 13),
    }[state]
    line = {"width": 2.5 if state == "kept" else 1.5, "color": colour}
    return {"symbol": symbol, "size": size - 2 if is_small else size, "color": WHITE, "line": line}


def _fields(shown: Numbers, theme: Theme) -> list[Figure]:
    """Return the grid as a trace, where there is one."""
    if shown.grid is None:
        return []
    colour = {"zmin": 0, "zmax": 1, "colorscale": colours(theme), "showscale": False}
    where = {"x": shown.grid.x, "y": shown.grid.y, "z": shown.grid.place}
    return [{"type": "heatmap", "name": "model", "hoverinfo": "skip", **colour, **where}]


def _filled(shown: Numbers, theme: Theme) -> list[Figure]:
    """Return the cells, those of one colour together."""
    tokens = THEMES[theme]
    by_colour: dict[tuple[str, bool], list[Cell]] = {}
    for cell in shown.cells:
        by_colour.setdefault((shown.scale.colour(theme, cell.place), cell.loss is None), []).append(cell)
    traces = []
    for (colour, diverged), some in by_colour.items():
        hatch = {"shape": "/", "fgcolor": tokens.diverged, "bgcolor": colour, "size": 7, "solidity": 0.15}
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "cells of diverged trials" if diverged else "cells",
                "showlegend": False,
                "x": [x for cell in some for x in (*cell.x, cell.x[0], None)],
                "y": [y for cell in some for y in (*cell.y, cell.y[0], None)],
                "fill": "toself",
                "fillcolor": colour,
                "line": {"width": 0.6, "color": tokens.surface},
                "hoverinfo": "skip",
                **({"fillpattern": hatch} if diverged else {}),
            }
        )
    return traces


def caption(shown: Numbers) -> str:
    """Return in words which model is shown, and where the other dimensions stand."""
    if not shown.model:
        return "No trial has finished yet: the search draws from everywhere."
    many = (
        "the nearest trial" if shown.neighbours == 1 else f"the mean of the {shown.neighbours} nearest trials"
    )
    told = f"The loss of {many}"
    if shown.others == "ignored":
        told += f" on these two dimensions alone: a projection of {text.count(shown.model, 'trial')}"
    elif shown.fixed:
        where = [f"{text.name(name)} {value}" for name, value in shown.fixed[:FIXED]]
        more = len(shown.fixed) - FIXED
        told += f", with {', '.join(where)}"
        told += (f" and {more} more" if more > 0 else "") + ", as in the best config"
    if shown.cells:
        met = f"{len(shown.cells)} of {shown.model} cells"
        told += f"; {met}"
    elif shown.grid is not None:
        told += f"; on a grid, of {text.count(shown.model, 'trial')}"
    if shown.by_rank:
        told += "; colours go by rank, with a quarter of the trials between two numbers of their scale"
    if shown.left_out:
        told += f". Marks are the best {marks.KEPT} and the latest {marks.KEPT} trials"
    return told + "."
