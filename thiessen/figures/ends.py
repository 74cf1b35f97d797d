"""Where the searches of each arm end: a dot for each, and what their best configs come to on fresh seeds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import numpy as np

from thiessen.figures import marks, sides, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.theme import LABEL, MONO, THEMES, Figure, Table, Theme, axis_title, drawn, note

ROW: Final = 74  # pixels of an arm
LONGEST: Final = 16  # characters of a name: beside it stands what is told of an arm
DOT: Final = 8  # pixels of a dot
WIDTH: Final = 300  # pixels that the dots surely have: so far those beside each other are apart
BIAS: Final = -0.16  # where the dots stand in their row, of its half: below the words
MOST: Final = 5  # dots above each other, on either side of the middle: beyond they lie over others
STEP: Final = 0.22  # from one dot to the next above it, of half a row


@dataclass(frozen=True, kw_only=True)
class Row:
    """The searches of one arm, by their replicates."""

    label: str
    replicates: Sequence[int]
    values: Sequence[float | None]  # None where no trial has succeeded
    median: float | None  # of all; None where that is one without a value
    confirmed: float | None  # the mean of the runs on fresh seeds
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    direction: str
    rows: Sequence[Row]
    axis: LossAxis


def numbers(report: Mapping[str, Any]) -> Numbers:
    """Return the numbers of the figure."""
    direction = report["direction"]
    rows = [_row(arm, direction) for arm in report["arms"]]
    values = [
        value
        for row in rows
        for value in (*row.values, row.confirmed, row.low, row.high)
        if value is not None
    ]
    return Numbers(direction=direction, rows=rows, axis=LossAxis.of(np.array(values, dtype=float), direction))


def _row(arm: Mapping[str, Any], direction: str) -> Row:
    headline = arm["headline"] or {}
    values = [search["final"] for search in arm["searches"]]
    worst = float("inf") if direction == "minimize" else float("-inf")
    middle = median(worst if value is None else value for value in values) if values else worst
    return Row(
        label=arm["label"],
        replicates=[search["replicate"] for search in arm["searches"]],
        values=values,
        median=middle if np.isfinite(middle) else None,
        confirmed=headline.get("mean"),
        low=headline.get("low"),
        high=headline.get("high"),
    )


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    styles = sides.looks(theme, len(shown.rows)) if len(shown.rows) <= sides.TOGETHER else []
    traces: list[Figure] = []
    annotations: list[Figure] = []
    for at, row in enumerate(shown.rows):
        colour = styles[at]["color"] if styles else tokens.ink2
        level = len(shown.rows) - 1 - at
        traces += _traces(shown, row, level, colour, theme)
        font = {"size": LABEL, "family": MONO, "color": colour}
        name = text.name(row.label, LONGEST)
        where = {"yref": "y", "y": level + 0.5, "yanchor": "top", "yshift": -2}
        annotations.append(note(theme, name, x=0, xanchor="left", font=font, **where))
        annotations.append(note(theme, _told(shown, row), x=1, xanchor="right", **where))
    is_log = " (log)" if shown.axis.is_log else ""
    values = {**shown.axis.layout(theme, title=axis_title(theme, f"final value of a search{is_log}"))}
    return drawn(
        theme,
        traces,
        kind="ends",
        title="Where the searches end",
        caption=_caption(shown),
        table=_table(shown),
        height=ROW * len(shown.rows),
        left=16,
        right=20,
        xaxis=values | {"showline": True, "linecolor": tokens.edge, "nticks": 6},
        yaxis={
            "range": [-0.5, len(shown.rows) - 0.5],
            "visible": False,
            "fixedrange": True,
        },
        annotations=annotations,
    )


def _traces(shown: Numbers, row: Row, level: int, colour: str, theme: Theme) -> Iterator[Figure]:
    """Yield the dots of an arm, the bar at their median, and the mark of what was confirmed."""
    tokens = THEMES[theme]
    values = np.array([np.nan if value is None else value for value in row.values], dtype=float)
    x = shown.axis.at(values)
    middle = level + BIAS
    told = [
        f"replicate {replicate}: {'no value' if value is None else text.short(value)}"
        for replicate, value in zip(row.replicates, row.values, strict=True)
    ]
    is_known = np.isfinite(values)
    dot = {"symbol": "circle", "size": DOT, "color": colour, "line": {"width": 1, "color": tokens.surface}}
    lost = {
        "symbol": "triangle-up-open",
        "size": DOT + 1,
        "color": colour,
        "line": {"width": 1.5, "color": colour},
    }
    heights = middle + STEP / 2 * _swarm(x, shown.axis)
    for name, among, look in (("search", is_known, dot), ("no value", ~is_known, lost)):
        places = np.flatnonzero(among)
        if len(places):
            yield marks.trace(
                f"{text.name(row.label)}: {name}",
                look,
                x=marks.plain(x[places]),
                y=marks.plain(heights[places]),
                text=[told[place] for place in places],
                showlegend=False,
            )
    if row.median is not None:
        there = float(shown.axis.at(np.array([row.median]))[0])
        yield _stroke(
            f"{text.name(row.label)}: median", [there] * 2, [middle - 0.24, middle + 0.24], tokens.ink
        )
    if row.confirmed is not None:
        yield from _confirmed(shown, row, level - 0.4, theme)


def _confirmed(shown: Numbers, row: Row, y: float, theme: Theme) -> Iterator[Figure]:
    """Yield the mean of the runs on fresh seeds, below the dots, and its interval."""
    tokens = THEMES[theme]
    if row.low is not None and row.high is not None:
        ends = marks.plain(shown.axis.at(np.array([row.low, row.high])))
        yield _stroke(f"{text.name(row.label)}: interval", ends, [y, y], tokens.ink)
    there = shown.axis.at(np.array([row.confirmed], dtype=float))
    yield marks.trace(
        f"{text.name(row.label)}: confirmed",
        {"symbol": "diamond", "size": 10, "color": tokens.surface, "line": {"width": 2, "color": tokens.ink}},
        x=marks.plain(there),
        y=[y],
        text=[f"confirmed on fresh seeds: {text.short(row.confirmed)}"],
        showlegend=False,
    )


def _stroke(name: str, x: Sequence[float | None], y: Sequence[float], colour: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"width": 2, "color": colour},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _swarm(x: Any, axis: LossAxis) -> Any:
    """Return how many half steps up or down each dot stands, so that none hides another."""
    low, high = axis.range
    scaled = (np.log10(x) if axis.is_log else x) / (high - low) * WIDTH
    order = np.argsort(scaled, kind="stable")
    levels = np.zeros(len(x))
    taken: dict[int, float] = {}  # by level, how far to the right it is taken
    for place in order:
        level = next(
            each for each in _levels() if scaled[place] - taken.get(each, -np.inf) >= DOT or abs(each) > MOST
        )
        taken[level] = scaled[place]
        levels[place] = level
    return levels


def _levels() -> Iterator[int]:
    yield 0
    for away in range(1, MOST + 2):
        yield away
        yield -away


def _told(shown: Numbers, row: Row) -> str:
    """Return what stands at the right of an arm: its median, and the worst where that is off the axis."""
    told = f"median {text.short(row.median)}"
    known = [value for value in row.values if value is not None]
    if len(known) < len(row.values):
        return f"{told}, {len(row.values) - len(known)} without a value"
    if known:
        worst = max(known) if shown.direction == "minimize" else min(known)
        if shown.axis.beyond(np.array([worst])):
            told += f", worst {text.short(worst)}"
    return told


def _table(shown: Numbers) -> Table:
    rows: list[Sequence[str | float]] = []
    for row in shown.rows:
        known = [value for value in row.values if value is not None]
        ends = (min(known), max(known)) if known else (None, None)
        best, worst = ends if shown.direction == "minimize" else reversed(ends)
        rows.append(
            (
                text.name(row.label),
                len(row.values),
                *map(text.short, (row.median, best, worst)),
                len(row.values) - len(known),
                *map(text.short, (row.confirmed, row.low, row.high)),
            )
        )
    columns = ["arm", "searches", "median", "best", "worst", "without a value", "confirmed", "from", "to"]
    return Table(columns, rows)


def _caption(shown: Numbers) -> str:
    if not any(row.values for row in shown.rows):
        return "No search has a value yet."
    told = "A dot is a search, the bar their median"
    if any(value is None for row in shown.rows for value in row.values):
        told += ", a triangle one without a value"
    if any(row.confirmed is not None for row in shown.rows):
        told += ", a diamond the mean of the best configs on fresh seeds"
        if any(row.low is not None for row in shown.rows):
            told += " with its 95 % interval"
    return told + "."
