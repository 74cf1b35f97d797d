"""The lines of several arms: in one panel with a name at each end, or where they are many in a panel each.

Colours belong to losses, so each line is told by its dashes and its name as well.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from thiessen.figures import marks, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.theme import THEMES, Figure, Theme, note

TOGETHER: Final = 6  # arms whose lines can be told apart in one panel
BLUE: Final = 6  # its place on the scale of losses, in both themes
HEIGHT: Final = 320  # pixels of one panel
LINE: Final = 18  # pixels of a name
ROOM: Final = 160  # pixels beside the lines, for their names
LONGEST: Final = 13  # characters of one of these
DASHES: Final = ("dot", "dash", "solid", "longdash", "dashdot", "longdashdot")
MOST_POINTS: Final = 2000  # of a line
ACROSS: Final = 3  # panels in a row
LOW: Final = 170  # pixels of one of several panels
BETWEEN: Final = 58  # pixels from one row of panels to the next
GAP: Final = 0.16  # from one panel to the next beside it, in widths of a panel

Look = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Side:
    """The line of an arm, and its band where there is one: lists of one length."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]

    @property
    def last(self) -> float | None:
        """The value that it ends with, None where it has none there."""
        return self.y[-1] if self.y else None

    @property
    def values(self) -> list[float]:
        """All that has to have a place on an axis."""
        return [each for each in (*self.y, *self.low, *self.high) if each is not None]

    def on(self, axis: LossAxis) -> "Side":
        """Return the same where it is drawn on an axis: what is far off stands at the bad end."""

        def there(values: Sequence[float | None]) -> list[float | None]:
            known = np.array([math.nan if each is None else each for each in values], dtype=float)
            placed = np.where(np.isnan(known), math.nan, axis.at(known))
            return marks.plain(placed)

        return replace(self, y=there(self.y), low=there(self.low), high=there(self.high))

    def some(self, most: int) -> "Side":
        """Return at most so many of its points, the first and the last among them."""
        if len(self.x) <= most:
            return self
        places = np.linspace(0, len(self.x) - 1, most).astype(int).tolist()
        x, y, low, high = ([each[at] for at in places] for each in (self.x, self.y, self.low, self.high))
        return replace(self, x=x, y=y, low=low, high=high)

    def after(self, x: float) -> float | None:
        """Return the value at a place, as that of the last point before."""
        place = int(np.searchsorted(self.x, x, side="right")) - 1
        return self.y[place] if place >= 0 else None


@dataclass(frozen=True)
class Panel:
    """Where one of several panels stands, in shares of the figure."""

    suffix: str  # of its axes' names
    x: tuple[float, float]
    y: tuple[float, float]
    is_first: bool  # of its row
    is_lowest: bool  # of its column


def side(label: str, band: Mapping[str, Sequence[Any]]) -> Side:
    """Return the line of a report's band, of many points some."""
    whole = Side(label=label, x=band["at"], y=band["mean"], low=band["low"], high=band["high"])
    return whole.some(MOST_POINTS)


def laid_out(
    theme: Theme,
    shown: Sequence[Side],
    told: Callable[[Side], str],
    *,
    xaxis: Mapping[str, Any],
    yaxis: Mapping[str, Any],
    shape: str = "linear",
    hover: str = "",
) -> tuple[list[Figure], dict[str, Any]]:
    """Return the traces of lines, and a layout: one panel, or a panel each where they are many.

    In a panel of its own each line stands before all others. `told` is what is said at the end of a line.
    """
    if len(shown) > TOGETHER:
        return _each(theme, shown, told, xaxis=xaxis, yaxis=yaxis, shape=shape, hover=hover)
    styles = looks(theme, len(shown))
    pairs = list(zip(shown, styles, strict=True))
    traces = [band for each, look in pairs for band in bands(each, look, shape=shape)]
    traces += [line(each, look, shape=shape, hover=hover) for each, look in pairs]
    ends = [(told(each), each.last, look) for each, look in pairs if each.last is not None]
    called = names(theme, ends, span=yaxis["range"], is_log=yaxis.get("type") == "log")
    layout = {"height": HEIGHT, "right": ROOM, "above": 18, "xaxis": dict(xaxis), "yaxis": dict(yaxis)}
    return traces, {**layout, "annotations": called}


def _each(
    theme: Theme,
    shown: Sequence[Side],
    told: Callable[[Side], str],
    *,
    xaxis: Mapping[str, Any],
    yaxis: Mapping[str, Any],
    shape: str,
    hover: str,
) -> tuple[list[Figure], dict[str, Any]]:
    places = panels(len(shown))
    look: Look = {"dash": "solid", "color": THEMES[theme].losses[BLUE]}
    traces: list[Figure] = []
    layout: dict[str, Any] = {"height": height(-(-len(shown) // ACROSS)), "right": 24, "above": 40}
    annotations = []
    for each, panel in zip(shown, places, strict=True):
        on = {"xaxis": f"x{panel.suffix}", "yaxis": f"y{panel.suffix}"}
        others = [other.some(MOST_POINTS // len(shown)) for other in shown if other is not each]
        traces.append(_behind(theme, others, shape, on))
        traces += bands(each, look, shape=shape, **on)
        traces.append(line(each, look, shape=shape, hover=hover, **on))
        layout[f"xaxis{panel.suffix}"] = {
            **xaxis,
            "domain": panel.x,
            "anchor": on["yaxis"],
            "nticks": 4,
            "title": xaxis.get("title") if panel.is_lowest else None,
        }
        layout[f"yaxis{panel.suffix}"] = {
            **yaxis,
            "domain": panel.y,
            "anchor": on["xaxis"],
            "showticklabels": panel.is_first,
        }
        annotations.append(title(theme, panel, told(each)))
    return traces, {**layout, "annotations": annotations}


def _behind(theme: Theme, others: Sequence[Side], shape: str, on: Mapping[str, str]) -> Figure:
    """Return the lines of the other arms, faint, in one trace."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "the other arms",
        "x": [x for other in others for x in (*other.x, None)],
        "y": [y for other in others for y in (*other.y, None)],
        "line": {"shape": shape, "width": 1, "color": THEMES[theme].edge},
        "opacity": 0.5,
        "hoverinfo": "skip",
        "connectgaps": False,
        "showlegend": False,
        **on,
    }


def looks(theme: Theme, many: int) -> list[Look]:
    """Return how lines of one panel look: the last of two or three is the blue one."""
    tokens = THEMES[theme]
    colours = [tokens.ink3, tokens.pruned, tokens.losses[BLUE]]
    found: list[Look] = [{"dash": dash, "color": colours[at % 3]} for at, dash in enumerate(DASHES)]
    return [found[0], found[2]] if many == 2 else found[:many]


def line(shown: Side, look: Look, *, shape: str = "linear", hover: str = "", **said: Any) -> Figure:
    """Return the line of an arm."""
    named = text.name(shown.label)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": named,
        "x": list(shown.x),
        "y": list(shown.y),
        "line": {"shape": shape, "width": 2.5, **look},
        "hovertemplate": f"{named}: {hover or '%{y:.4g} at %{x:.4g}'}<extra></extra>",
        "showlegend": False,
        **said,
    }


def bands(shown: Side, look: Look, *, shape: str = "linear", **said: Any) -> list[Figure]:
    """Return the band of an arm, in as many parts as it has."""
    colour = look["color"].removeprefix("#")
    shade = ",".join(str(int(colour[at : at + 2], 16)) for at in (0, 2, 4))
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"{text.name(shown.label)}, its band",
            "x": [*x, *reversed(x)],
            "y": [*high, *reversed(low)],
            "fill": "toself",
            "fillcolor": f"rgba({shade},0.16)",
            "line": {"width": 0, "color": look["color"]},
            "hoverinfo": "skip",
            "showlegend": False,
            **said,
        }
        for part in _parts(shown)
        for x, low, high in [_corners(part) if shape == "hv" else part]
    ]


def _parts(shown: Side) -> Iterator[tuple[list[float], list[float], list[float]]]:
    """Yield where the band goes on without a gap: places, low ends and high ends."""
    part: tuple[list[float], list[float], list[float]] = ([], [], [])
    for x, low, high in zip(shown.x, shown.low, shown.high, strict=True):
        if low is None or high is None:
            if len(part[0]) > 1:
                yield part
            part = ([], [], [])
        else:
            for values, value in zip(part, (x, low, high), strict=True):
                values.append(value)
    if len(part[0]) > 1:
        yield part


def _corners(
    part: tuple[list[float], list[float], list[float]],
) -> tuple[list[float], list[float], list[float]]:
    """Return the same as steps, each of which holds until the next begins."""
    x, low, high = part
    places = [at for at in range(len(x)) for _ in range(2)]
    return [x[at] for at in places][1:], [low[at] for at in places][:-1], [high[at] for at in places][:-1]


def names(
    theme: Theme,
    ends: Sequence[tuple[str, float, Look]],
    *,
    span: Sequence[float],
    is_log: bool,
    y: tuple[float, float] = (0.0, 1.0),
    height: int = HEIGHT,
) -> list[Figure]:
    """Return what is told at the ends of lines, none over another; `span` is what the axis shows."""
    heights = sorted((_height(value, span, is_log=is_log), at) for at, (_, value, _) in enumerate(ends))
    return [
        note(
            theme,
            ends[at][0],
            x=1,
            y=y[0] + place * (y[1] - y[0]),
            xanchor="left",
            xshift=6,
            yanchor="middle",
            font={"size": 12, "color": ends[at][2]["color"]},
        )
        for place, at in apart(heights, LINE / (height * (y[1] - y[0])))
    ]


def _height(value: float, span: Sequence[float], *, is_log: bool) -> float:
    """Return how high a value stands, from 0 to 1."""
    there = (math.log10(value) if value > 0 else -math.inf) if is_log else value
    return min(max((there - span[0]) / (span[1] - span[0]), 0.0), 1.0)


def apart(ends: Sequence[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Return them with room between any two, moved up from the lowest on, and down again from the top."""
    places = [place for place, _ in ends]
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + gap)
    if places and places[-1] > 1 - gap:
        places[-1] = 1 - gap
        for upper, lower in pairwise(range(len(places) - 1, -1, -1)):
            places[lower] = min(places[lower], places[upper] - gap)
    return [(place, at) for place, (_, at) in zip(places, ends, strict=True)]


def height(rows: int) -> int:
    """Return how high so many rows of panels are."""
    return rows * LOW + (rows - 1) * BETWEEN


def panels(many: int, across: int = ACROSS) -> list[Panel]:
    """Return where panels stand, row by row."""
    across = min(many, across)
    rows = -(-many // across)
    wide, high = 1 / (across + GAP * (across - 1)), LOW / height(rows)
    found = []
    for at in range(many):
        left = at % across * (1 + GAP) * wide
        top = 1 - at // across * (LOW + BETWEEN) / height(rows)
        found.append(
            Panel(
                suffix="" if at == 0 else str(at + 1),
                x=(left, min(left + wide, 1.0)),
                y=(max(top - high, 0.0), top),
                is_first=at % across == 0,
                is_lowest=at + across >= many,
            )
        )
    return found


def title(theme: Theme, panel: Panel, told: str, **said: Any) -> Figure:
    """Return what stands above a panel."""
    where = {"x": panel.x[0], "y": panel.y[1], "xanchor": "left", "yanchor": "bottom", "yshift": 4}
    return note(theme, told, **where, **said)
