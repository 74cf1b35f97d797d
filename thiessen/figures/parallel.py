"""Configs as lines through parallel axes, one for each dimension and one for the value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import Axis
from thiessen.figures.scale import LEGEND, Scale
from thiessen.figures.table import of_trials
from thiessen.figures.theme import MONO, THEMES, Figure, Table, Theme, axis, drawn, note
from thiessen.figures.trials import Trials
from thiessen.figures.wanted import dimensions

MOST_LINES: Final = 200
MOST_AXES: Final = 11  # dimensions
BELOW: Final = -0.08  # where a line goes through an axis whose dimension is inactive
TICKS: Final = 6


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows. Lines come from the worst to the best, which is drawn last."""

    succeeded: int
    dimensions: int
    axes: Sequence[Axis]
    number: Sequence[int]
    value: Sequence[float | None]
    lines: Sequence[Sequence[float]]  # heights: of each dimension from 0 to 1, and of the value
    place: Sequence[float]  # on the scale of losses: the height of the value is what is left to 1
    inactive: bool  # whether a line goes below an axis
    best: int | None  # the number of the best trial
    scale: Scale
    table: Table


def numbers(trials: Trials) -> Numbers:
    """Return the numbers of the figure."""
    (places,) = trials.succeeded.nonzero()
    shown = _some(places[_from_the_worst(trials.losses[places], trials.numbers[places])])
    scale = trials.scale
    names = dimensions(trials.space)[:MOST_AXES]
    axes = [Axis(name, trials.space.dimensions[name]) for name in names]
    units = trials.points[shown][:, : len(axes)]
    heights = np.column_stack([_heights(axis, units[:, at]) for at, axis in enumerate(axes)])
    on_scale = scale.places(trials.losses[shown])
    lines = np.column_stack([heights, 1.0 - on_scale])
    return Numbers(
        succeeded=len(places),
        dimensions=len(trials.space.dimensions),
        axes=axes,
        number=trials.numbers[shown].tolist(),
        value=marks.plain(trials.values(trials.losses[shown])),
        lines=np.round(lines, 4).tolist(),
        place=np.round(on_scale, 3).tolist(),
        inactive=bool(np.isnan(units).any()),
        best=None if trials.best is None else int(trials.numbers[trials.best]),
        scale=scale,
        table=of_trials(trials, names),
    )


def _from_the_worst(losses: Array, numbers: Array) -> Array:
    """Return the places from the worst to the best, of equal ones the last number first."""
    order = np.argsort(-losses)
    if (np.diff(losses[order]) < 0).all():  # no two are equal: then the quickest order is the only one
        return order
    return np.lexsort((-numbers, -losses))


def _some(order: Array) -> Array:
    """Return of many the best half of the lines there are, and others evenly spread; the worst first."""
    if len(order) <= MOST_LINES:
        return order
    others = order[: -MOST_LINES // 2]
    spread = np.linspace(0, len(others) - 1, MOST_LINES - MOST_LINES // 2).astype(np.intp)
    return np.concatenate([others[spread], order[-MOST_LINES // 2 :]])


def _heights(axis: Axis, units: Array) -> Array:
    """Return how high a coordinate is on an axis from 0 to 1."""
    if not axis.is_ordered:
        units = (units + 0.5) / len(axis.choices or (1,))
    return np.where(np.isnan(units), BELOW, units)


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure: lines of SVG, those of one colour as one trace."""
    traces: list[Figure] = []
    last = len(shown.axes)
    across = list(range(last + 1))
    by_colour: dict[str, list[int]] = {}
    for at, place in enumerate(shown.place):
        if shown.number[at] != shown.best:
            by_colour.setdefault(shown.scale.colour(theme, place), []).append(at)
    for colour, lines in by_colour.items():
        traces.append(_line(shown, lines, across, {"width": 1.2, "color": colour}))
    tokens = THEMES[theme]
    if shown.best is not None:
        at = shown.number.index(shown.best)
        traces.append(_line(shown, [at], across, {"width": 6, "color": tokens.surface}))
        traces.append(_line(shown, [at], across, {"width": 2.5, "color": tokens.star}))
        told = f"trial {shown.best}: {text.short(shown.value[at])}"
        traces.append(marks.star(theme, last, shown.lines[at][-1], told))
    low = BELOW - 0.04 if shown.inactive else -0.03
    return drawn(
        theme,
        traces,
        kind="parallel",
        title="Parallel coordinates",
        caption=_caption(shown),
        table=shown.table,
        height=340,
        left=56,
        right=72,
        bottom=24,
        above=36,
        xaxis=axis(theme, range=[-0.05, last + 0.05], visible=False),
        yaxis=axis(theme, range=[low, 1.03], visible=False),
        shapes=[_rule(theme, at, shown.inactive) for at in across],
        annotations=_labels(shown, theme),
    )


def _line(shown: Numbers, lines: Sequence[int], across: Sequence[int], look: Any) -> Figure:
    told = [f"trial {shown.number[at]}: {text.short(shown.value[at])}" for at in lines]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [each for _ in lines for each in (*across, None)],
        "y": [each for at in lines for each in (*shown.lines[at], None)],
        "text": [each for words in told for each in [words] * (len(across) + 1)],
        "hovertemplate": "%{text}<extra></extra>",
        "line": look,
        "showlegend": False,
        "cliponaxis": False,
    }


def _rule(theme: Theme, at: int, inactive: bool) -> dict[str, Any]:  # noqa: FBT001 - a number of the figure
    line = {"width": 1, "color": THEMES[theme].edge}
    y0 = BELOW if inactive else 0
    return {"type": "line", "x0": at, "x1": at, "y0": y0, "y1": 1, "line": line, "layer": "below"}


def _labels(shown: Numbers, theme: Theme) -> list[dict[str, Any]]:
    """Return the names of the axes above them, and what stands beside them."""
    tokens = THEMES[theme]
    halo = {"bgcolor": tokens.surface, "borderpad": 1, "opacity": 0.9}
    many = len(shown.axes) + 1
    longest = max(6, 72 // many)
    labels = []
    for at, each in enumerate(shown.axes):
        anchor = "left" if at == 0 else "center"
        font = {"size": 12, "family": MONO, "color": tokens.ink}
        name = text.name(each.name, longest)
        aside = {"xshift": -40 if at == 0 else 0, "yshift": 8 + at % 2 * 15}  # two rows, for room
        labels.append(_note(theme, name, at, 1, xanchor=anchor, yanchor="bottom", font=font, **aside))
        where, told = each.ticks(TICKS)
        low, high = each.ends
        heights = _share(np.array(where), low, high, is_log=each.is_log)
        labels += [
            _note(theme, label, at, height, xanchor="right", xshift=-4, **halo)
            for height, label in zip(heights, told, strict=True)
        ]
        if shown.inactive and each.dimension.when:
            labels.append(_note(theme, "off", at, BELOW, xanchor="right", xshift=-4, **halo))
    last = len(shown.axes)
    font = {"size": 12, "color": tokens.ink}
    labels.append(
        _note(
            theme, "value", last, 1, xanchor="center", yanchor="bottom", yshift=8 + last % 2 * 15, font=font
        )
    )
    scale = shown.scale
    if shown.number and scale.worst > scale.best:
        for place in LEGEND:
            labels.append(_note(theme, scale.told(place), last, 1 - place, xanchor="left", xshift=12))
    return labels


def _note(theme: Theme, told: str, x: float, y: float, **where: Any) -> dict[str, Any]:
    return note(theme, told, **{"x": x, "y": y, "xref": "x", "yref": "y", "yanchor": "middle", **where})


def _share(where: Array, low: float, high: float, *, is_log: bool) -> list[float]:
    scaled = np.log if is_log else np.asarray
    low, high = float(scaled(low)), float(scaled(high))
    return marks.rounded((scaled(where) - low) / (high - low))


def _caption(shown: Numbers) -> str:
    if not shown.succeeded:
        return "No trial has succeeded yet."
    told = text.count(shown.succeeded, "succeeded trial")
    if shown.succeeded > len(shown.lines):
        told = f"{len(shown.lines)} of {told}: the best half of these, the others evenly spread"
    if shown.dimensions > len(shown.axes):
        told += f"; the first {len(shown.axes)} of {shown.dimensions} dimensions"
    told += ". The best is drawn last; good values are on top"
    if shown.inactive:
        told += ", inactive dimensions below their axis"
    return told + "."
