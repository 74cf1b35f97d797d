"""How often which value came out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.scale import Scale
from thiessen.figures.table import ROWS
from thiessen.figures.theme import THEMES, Figure, Table, Theme, axis, axis_title, drawn, note
from thiessen.figures.trials import Trials

FEWEST: Final = 8  # bars
MOST: Final = 60


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows: bars of succeeded trials, and how many came to something else."""

    edges: Sequence[float]  # of the bars, ascending values
    counts: Sequence[int]
    place: Sequence[float]  # of the middle of each bar on the scale of losses
    best: float | None
    median: float | None
    beyond: int  # succeeded trials whose value is beyond the last bar, at the bad end
    others: Mapping[str, int]  # by state
    axis: LossAxis
    scale: Scale


def numbers(trials: Trials) -> Numbers:
    """Return the numbers of the figure."""
    losses = np.sort(trials.losses[trials.succeeded])  # in which quantiles are found soon
    values = trials.values(losses)
    loss_axis = trials.loss_axis
    scale = trials.scale
    inside = values[loss_axis.at(values) == values]
    scaled = np.log(inside) if loss_axis.is_log else inside
    counts, edges = (
        np.histogram(scaled, bins=_bars(scaled)) if len(scaled) else (np.zeros(0, int), np.zeros(0))
    )
    middles = (edges[1:] + edges[:-1]) / 2
    if loss_axis.is_log:
        edges, middles = np.exp(edges), np.exp(middles)
    states = [state for state in marks.STATES if state != "succeeded"]
    return Numbers(
        edges=edges.tolist(),
        counts=counts.tolist(),
        place=np.round(scale.places(trials.values(middles)), 3).tolist(),
        best=None if trials.best is None else trials.value(float(trials.losses[trials.best])),
        median=float(np.median(values)) if len(values) else None,
        beyond=loss_axis.beyond(values),
        others={state: many for state in states if (many := int((trials.states == state).sum()))},
        axis=loss_axis,
        scale=scale,
    )


def _bars(values: Array) -> int:
    """Return how many bars: as wide as Freedman and Diaconis say, within limits."""
    low, quarter, three, high = np.quantile(values, [0, 0.25, 0.75, 1]).tolist()
    width = 2 * (three - quarter) / len(values) ** (1 / 3)
    many = (high - low) / width if width > 0 else FEWEST
    return int(min(max(many, FEWEST), MOST))


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    traces: list[Figure] = []
    lows, highs = shown.edges[:-1], shown.edges[1:]
    for low, high, many, place in zip(lows, highs, shown.counts, shown.place, strict=True):
        if not many:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [low, low, high, high, low],
                "y": [0, many, many, 0, 0],
                "fill": "toself",
                "fillcolor": shown.scale.colour(theme, place),
                "line": {"width": 0.8, "color": tokens.edge},
                "hoveron": "fills",
                "text": f"{text.count(many, 'trial')} from {text.short(low)} to {text.short(high)}",
                "hoverinfo": "text",
                "showlegend": False,
            }
        )
    ends = shown.axis.layout(theme, showgrid=False, showline=True, ticks="outside")
    if shown.edges:
        low, high = shown.edges[0], shown.edges[-1]
        room = 0.02 * (np.log(high / low) if shown.axis.is_log else high - low) or 0.1
        span = [np.log(low) - room, np.log(high) + room] if shown.axis.is_log else [low - room, high + room]
        ends["range"] = [float(end / np.log(10)) if shown.axis.is_log else float(end) for end in span]
    ends["title"] = axis_title(theme, "value (log)" if shown.axis.is_log else "value")
    most = max(shown.counts, default=1)
    return drawn(
        theme,
        traces,
        kind="distribution",
        title="Distribution",
        caption=_caption(shown),
        table=_table(shown),
        height=240,
        above=18,
        xaxis=ends,
        yaxis=axis(
            theme,
            range=[0, 1.06 * most],
            showgrid=True,
            showline=False,
            ticks="",
            nticks=6,
            tickformat=",d",
            dtick=1 if most < 6 else None,
        ),
        annotations=[note(theme, "trials", x=0, y=1, xanchor="right", yanchor="bottom", yshift=4, xshift=10)],
    )


def _table(shown: Numbers) -> Table:
    rows = [
        (text.short(low), text.short(high), many)
        for low, high, many in zip(shown.edges[:-1], shown.edges[1:], shown.counts, strict=True)
        if many
    ]
    return Table(["from", "to", "trials"], rows[:ROWS])


def _caption(shown: Numbers) -> str:
    total = sum(shown.counts) + shown.beyond
    if not total and not shown.others:
        return "No trial has finished yet."
    told = f"{text.count(total, 'succeeded trial')}"
    if shown.best is not None:
        told += f": best {text.short(shown.best)}, median {text.short(shown.median)}"
    if shown.beyond:
        told += f"; {shown.beyond} beyond the axis"
    if shown.others:
        told += "; not among the bars: " + ", ".join(
            f"{many} {state}" for state, many in shown.others.items()
        )
    return told + "."
