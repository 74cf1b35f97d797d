"""The value over each dimension, a panel each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import Axis, LossAxis
from thiessen.figures.scale import Scale
from thiessen.figures.table import of_trials
from thiessen.figures.theme import MONO, THEMES, Figure, Table, Theme, drawn, note
from thiessen.figures.trials import Trials
from thiessen.figures.wanted import dimensions

MOST_PANELS: Final = 12
FIELDS: Final = (60, 30)  # of a density: across, and up
PANEL: Final = 170  # pixels up
GAP: Final = 86  # pixels between two panels, for the axis and the name of the next


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The trials over one dimension, those left out in which it is inactive."""

    axis: Axis
    number: Sequence[int]
    state: Sequence[str]
    x: Sequence[float | None]  # where it is drawn
    told: Sequence[str]  # its value in this dimension
    value: Sequence[float | None]
    y: Sequence[float | None]  # on the shelf without a place of its own
    place: Sequence[float | None]  # on the scale of losses
    best: int | None  # its place in these lists
    density: Sequence[Sequence[float]] | None  # of the trials that are no marks: a row for each step up
    density_x: Sequence[float]  # the edges of its columns
    density_y: Sequence[float]  # and of its rows


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    trials: int
    dimensions: int
    panels: Sequence[Panel]
    axis: LossAxis
    scale: Scale
    left_out: int  # trials of each panel that have no mark
    table: Table


def numbers(trials: Trials) -> Numbers:
    """Return the numbers of the figure."""
    loss_axis = trials.loss_axis
    scale = trials.scale
    names = dimensions(trials.space)[:MOST_PANELS]
    most = marks.MOST_MARKS // len(names)
    losses = np.where(trials.succeeded, trials.losses, np.nan)
    shown, left_out = marks.some(losses, most, min(marks.KEPT, most // 2))
    return Numbers(
        trials=len(trials),
        dimensions=len(trials.space.dimensions),
        panels=[_panel(trials, name, shown, left_out, loss_axis, scale) for name in names],
        axis=loss_axis,
        scale=scale,
        left_out=len(left_out),
        table=of_trials(trials, names),
    )


def _panel(
    trials: Trials, name: str, shown: Array, left_out: Array, loss_axis: LossAxis, scale: Scale
) -> Panel:
    axis = Axis(name, trials.space.dimensions[name])
    units = trials.points[:, trials.place(name)]
    shown = shown[~np.isnan(units[shown])]
    values = trials.values(trials.losses[shown])
    x = axis.among(units[shown], trials.numbers[shown])
    best = np.flatnonzero(shown == -1 if trials.best is None else shown == trials.best)
    return Panel(
        axis=axis,
        number=trials.numbers[shown].tolist(),
        state=trials.states[shown].tolist(),
        x=marks.plain(x),
        told=[axis.value(unit) for unit in units[shown].tolist()],
        value=marks.plain(values),
        y=marks.plain(loss_axis.at(values)),
        place=marks.plain(np.round(scale.places(trials.losses[shown]), 3)),
        best=int(best[0]) if len(best) else None,
        **_density(trials, axis, units, left_out, loss_axis),
    )


def _density(
    trials: Trials, axis: Axis, units: Array, left_out: Array, loss_axis: LossAxis
) -> dict[str, Any]:
    """Return how many of the trials that have no mark are where."""
    left_out = left_out[~np.isnan(units[left_out])]
    if not len(left_out):
        return {"density": None, "density_x": [], "density_y": []}
    x_edges = axis.edges(FIELDS[0])
    columns = axis.fields(units[left_out], len(x_edges) - 1)
    rows, y_edges = loss_axis.fields(loss_axis.at(trials.values(trials.losses[left_out])), FIELDS[1])
    counts = marks.totals(columns, rows, len(x_edges) - 1, FIELDS[1])
    return {"density": counts.astype(int).tolist(), "density_x": x_edges, "density_y": y_edges}


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure: panels below each other, on one axis of values."""
    many = len(shown.panels)
    height = many * PANEL + (many - 1) * GAP
    traces: list[Figure] = []
    layout: dict[str, Any] = {"annotations": []}
    seen: set[str] = set()
    for at, panel in enumerate(shown.panels):
        suffix = "" if at == 0 else str(at + 1)
        top = 1 - at * (PANEL + GAP) / height
        domain = [max(top - PANEL / height, 0.0), top]
        layout[f"xaxis{suffix}"] = panel.axis.layout(theme, most=7, title=False, anchor=f"y{suffix}")
        layout[f"yaxis{suffix}"] = shown.axis.layout(theme, domain=domain, anchor=f"x{suffix}")
        font = {"size": 12, "family": MONO, "color": THEMES[theme].ink}
        layout["annotations"].append(
            note(theme, panel.axis.title, x=0, y=top, xanchor="left", yanchor="bottom", yshift=6, font=font)
        )
        traces += _panel_marks(panel, theme, suffix, seen)
    return drawn(
        theme,
        traces,
        kind="slice",
        title="Slices",
        caption=_caption(shown),
        table=shown.table,
        height=height,
        legend=bool(traces),
        above=22,
        right=28,
        **layout,
    )


def _panel_marks(panel: Panel, theme: Theme, suffix: str, seen: set[str]) -> list[Figure]:
    traces: list[Figure] = []
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    if panel.density is not None:
        traces.append(marks.density(theme, panel.density, x=panel.density_x, y=panel.density_y, **axes))
    for state in marks.STATES:
        at = [place for place, its in enumerate(panel.state) if its == state]
        if not at:
            continue
        places = [1.0 if panel.place[each] is None else panel.place[each] for each in at]
        has_loss = state in {"succeeded", "pruned"}
        traces.append(
            marks.trace(
                state,
                marks.coloured(theme, state, places) if has_loss else marks.shape(theme, state),
                x=[panel.x[each] for each in at],
                y=[panel.y[each] for each in at],
                text=[_told(panel, each) for each in at],
                showlegend=state not in seen,
                legendgroup=state,
                **axes,
            )
        )
        seen.add(state)
    if panel.best is not None:
        x, y = panel.x[panel.best], panel.y[panel.best]
        if x is not None and y is not None:
            said = {"showlegend": "best" not in seen, "legendgroup": "best", **axes}
            traces.append(marks.star(theme, x, y, _told(panel, panel.best), **said))
            seen.add("best")
    return traces


def _told(panel: Panel, at: int) -> str:
    return f"trial {panel.number[at]}: {text.short(panel.value[at])} at {panel.told[at]}"


def _caption(shown: Numbers) -> str:
    if not shown.trials:
        return "No trial has finished yet."
    told = "The value over each dimension"
    if shown.dimensions > len(shown.panels):
        told += f", the first {len(shown.panels)} of {shown.dimensions}"
    told += f"; {text.count(shown.trials, 'finished trial')}"
    if shown.axis.is_log:
        told += ", values on a log axis"
    if shown.left_out:
        marked = shown.trials - shown.left_out
        told += f". Marks are {marked} of them, the best and the latest, the others a density"
    return told + "."
