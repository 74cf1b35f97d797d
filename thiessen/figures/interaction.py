"""Two hyperparameters against each other: a mark for each trial, its colour its value.

Several searches stand side by side, on the same axes and one scale of colours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import Axis
from thiessen.figures.scale import ROOM, Scale
from thiessen.figures.table import ROWS, of_trials
from thiessen.figures.theme import THEMES, Figure, Table, Theme, colours, drawn, note, upright
from thiessen.figures.trials import Trials
from thiessen.figures.wanted import FigureError, Wanted, two

MOST_PANELS: Final = 6
FIELDS: Final = (64, 48)  # of the density of many trials: across, and up
LONGEST: Final = 16  # characters of a name above its panel
ACROSS: Final = 3  # panels in a row
GAP: Final = 0.1  # between two, in widths of a panel


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One search: lists side by side are of the same trials, in the order they finished in."""

    name: str
    trials: int
    number: Sequence[int]
    state: Sequence[str]
    x: Sequence[float | None]  # where it is drawn
    y: Sequence[float | None]
    value: Sequence[float | None]
    place: Sequence[float | None]  # on the scale of losses
    best: int | None  # its place in these lists
    fields: Sequence[Sequence[float | None]] | None  # the mean place of the trials that are no marks


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    x: Axis
    y: Axis
    x_edges: Sequence[float]  # of the fields
    y_edges: Sequence[float]
    panels: Sequence[Panel]
    scale: Scale
    table: Table


def numbers(searches: Mapping[str, Trials], wanted: Wanted) -> Numbers:
    """Return the numbers of the figure. Raises FigureError where the searches are not alike."""
    first, names = _alike(searches, wanted)
    across, up = (Axis(name, first.space.dimensions[name]) for name in names)
    wholes = [each.whole or each for each in searches.values()]
    losses = np.concatenate([each.losses[each.succeeded] for each in wholes])
    scale = Scale.of(losses, first.direction, by_rank=first.by_rank)
    most = marks.MOST_MARKS // len(searches)
    return Numbers(
        x=across,
        y=up,
        x_edges=_edges(across, FIELDS[0]),
        y_edges=_edges(up, FIELDS[1]),
        panels=[_panel(name, each, across, up, scale, most) for name, each in searches.items()],
        scale=scale,
        table=_table(searches, names),
    )


def _table(searches: Mapping[str, Trials], names: Sequence[str]) -> Table:
    """Return the best trials of each search."""
    tables = {study: of_trials(trials, names) for study, trials in searches.items()}
    rows = [
        (text.name(study), *row)
        for study, table in tables.items()
        for row in table.rows[: ROWS // len(tables)]
    ]
    return Table(["study", *next(iter(tables.values())).columns], rows)


def _alike(searches: Mapping[str, Trials], wanted: Wanted) -> tuple[Trials, tuple[str, str]]:
    """Return the first, and the two dimensions, which all of them have alike. Raises FigureError."""
    if not 1 <= len(searches) <= MOST_PANELS:
        raise FigureError(f"side by side stand 1 to {MOST_PANELS} studies; got {len(searches)}.")
    (name, first), *others = searches.items()
    names = two(first.space, wanted)
    for other, each in others:
        is_alike = all(each.space.dimensions.get(axis) == first.space.dimensions[axis] for axis in names)
        if not is_alike or each.direction != first.direction:
            raise FigureError(
                f"{name} and {other} declare {' or '.join(names)} in different ways or search in different "
                "directions: their trials cannot share axes. Choose dimensions that they have alike."
            )
    return first, names


def _edges(axis: Axis, fields: int) -> list[float]:
    many = fields if axis.is_ordered else len(axis.choices or ())
    units = np.linspace(0, 1, many + 1) if axis.is_ordered else np.arange(many + 1) - 0.5
    return marks.rounded(axis.at(units))


def _panel(name: str, trials: Trials, across: Axis, up: Axis, scale: Scale, most: int) -> Panel:
    x, y = (trials.points[:, trials.place(axis.name)] for axis in (across, up))
    places = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    losses = np.where(trials.succeeded, trials.losses, np.nan)[places]
    shown, others = marks.some(losses, most, min(marks.KEPT, most // 2))
    fields = None
    if len(others):
        there = places[others]
        fields = _fields(x[there], y[there], scale.places(losses[others]), across, up)
    shown = places[shown]
    best = np.flatnonzero(shown == -1 if trials.best is None else shown == trials.best)
    return Panel(
        name=name,
        trials=len(trials),
        number=trials.numbers[shown].tolist(),
        state=trials.states[shown].tolist(),
        x=marks.plain(across.among(x[shown], trials.numbers[shown])),
        y=marks.plain(up.among(y[shown], trials.numbers[shown])),
        value=marks.plain(trials.values(trials.losses[shown])),
        place=marks.plain(np.round(scale.places(trials.losses[shown]), 3)),
        best=int(best[0]) if len(best) else None,
        fields=fields,
    )


def _fields(x: Array, y: Array, places: Array, across: Axis, up: Axis) -> list[list[float | None]]:
    """Return the mean place of the succeeded trials in each field, None where there is none."""
    is_in = ~np.isnan(places)
    many = [
        fields if axis.is_ordered else len(axis.choices or ())
        for axis, fields in zip((across, up), FIELDS, strict=True)
    ]
    columns, rows = (
        axis.fields(units[is_in], fields)
        for units, axis, fields in zip((x, y), (across, up), many, strict=True)
    )
    counts = marks.totals(columns, rows, many[0], many[1])
    sums = marks.totals(columns, rows, many[0], many[1], places[is_in])
    with np.errstate(invalid="ignore"):
        means = sums / counts
    return [marks.plain(np.round(row, 3)) for row in means]


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    many = len(shown.panels)
    across = min(many, ACROSS)
    rows = -(-many // across)
    height = 400 if many == 1 else 300 * rows
    traces: list[Figure] = []
    layout: dict[str, Any] = {"annotations": [upright(theme, shown.y.title, shown.y.room)]}
    seen: set[str] = set()
    called = _called([panel.name for panel in shown.panels])
    for at, panel in enumerate(shown.panels):
        suffix = "" if at == 0 else str(at + 1)
        left = at % across * (1 + GAP) / (across + GAP * (across - 1))
        width = 1 / (across + GAP * (across - 1))
        top = 1 - (at // across) * (1 + 0.32) / (rows + 0.32 * (rows - 1))
        bottom = max(top - 1 / (rows + 0.32 * (rows - 1)), 0.0)
        is_first = at % across == 0
        layout[f"xaxis{suffix}"] = shown.x.layout(
            theme,
            most=6 if across == 1 else 4,
            domain=[left, min(left + width, 1.0)],
            anchor=f"y{suffix}",
        )
        layout[f"yaxis{suffix}"] = shown.y.layout(
            theme, title=False, domain=[bottom, top], anchor=f"x{suffix}", showticklabels=is_first
        )
        if many > 1:
            told = f"{text.name(called[at], LONGEST)}<br>best {text.short(_best(panel))}"
            layout["annotations"].append(
                note(theme, told, x=left, y=top, xanchor="left", yanchor="bottom", yshift=4)
            )
        traces += _panel_traces(shown, panel, theme, suffix, seen)
    traces.append(shown.scale.legend(theme, height))
    return drawn(
        theme,
        traces,
        kind="interaction",
        title="Interaction" if many == 1 else "Side by side",
        caption=_caption(shown),
        table=shown.table,
        height=height,
        legend=True,
        left=shown.y.room,
        right=40,
        bottom=ROOM,
        above=36 if many > 1 else 0,
        plot_bgcolor=THEMES[theme].surface,
        **layout,
    )


def _called(names: Sequence[str]) -> list[str]:
    """Return names without the parts before a dot that all of them begin with."""
    parts = [name.split(".") for name in names]
    while all(len(each) > 1 and each[0] == parts[0][0] for each in parts):
        parts = [each[1:] for each in parts]
    return [".".join(each) for each in parts]


def _best(panel: Panel) -> float | None:
    return None if panel.best is None else panel.value[panel.best]


def _panel_traces(shown: Numbers, panel: Panel, theme: Theme, suffix: str, seen: set[str]) -> list[Figure]:
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces: list[Figure] = []
    if panel.fields is not None:
        colour = {"zmin": 0, "zmax": 1, "colorscale": colours(theme)}
        where = {"x": shown.x_edges, "y": shown.y_edges, "z": panel.fields, "showscale": False}
        traces.append({"type": "heatmap", "hoverinfo": "skip", "name": "means", **colour, **where, **axes})
    for state in marks.STATES:
        at = [place for place, its in enumerate(panel.state) if its == state]
        if not at:
            continue
        at.sort(key=lambda each: -(panel.place[each] or 0.0))  # the best are drawn last
        places = [1.0 if panel.place[each] is None else panel.place[each] for each in at]
        has_loss = state in {"succeeded", "pruned"}
        traces.append(
            marks.trace(
                state,
                marks.coloured(theme, state, places) if has_loss else marks.shape(theme, state),
                x=[panel.x[each] for each in at],
                y=[panel.y[each] for each in at],
                text=[f"trial {panel.number[each]}: {text.short(panel.value[each])}" for each in at],
                showlegend=state not in seen,
                legendgroup=state,
                **axes,
            )
        )
        seen.add(state)
    if panel.best is not None:
        x, y = panel.x[panel.best], panel.y[panel.best]
        if x is not None and y is not None:
            told = f"trial {panel.number[panel.best]}: {text.short(panel.value[panel.best])}"
            said = {"showlegend": "best" not in seen, "legendgroup": "best", **axes}
            traces.append(marks.star(theme, x, y, told, **said))
            seen.add("best")
    return traces


def _caption(shown: Numbers) -> str:
    if not any(panel.trials for panel in shown.panels):
        return "No trial has finished yet."
    names = f"{text.name(shown.x.name)} against {text.name(shown.y.name)}"
    trials = sum(panel.trials for panel in shown.panels)
    told = f"{names}; {text.count(trials, 'finished trial')}, coloured by value"
    if any(panel.fields is not None for panel in shown.panels):
        told += ". Marks are the best and the latest, fields the means of the others"
    return told + "; what is worse than nine of ten has the last colour."
