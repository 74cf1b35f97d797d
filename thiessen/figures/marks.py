"""Marks: one shape for each state, so that colour is never the only sign; and which of many are drawn."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures.theme import THEMES, Theme, colours

MOST_MARKS: Final = 5000  # beyond, the best and the latest are marks, and the others a density
KEPT: Final = 500  # of the best, and of the latest
STATES: Final = ("succeeded", "pruned", "diverged", "failed", "cancelled", "running", "queued")
BINS: Final = (96, 60)  # of a density: across, and up

_SHAPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "succeeded": {"symbol": "circle", "size": 7},
    "pruned": {"symbol": "line-ew", "size": 8},
    "diverged": {"symbol": "triangle-up-open", "size": 9},
    "failed": {"symbol": "x-thin", "size": 8},
    "cancelled": {"symbol": "circle-x-open", "size": 8},
    "running": {"symbol": "circle-open-dot", "size": 9},
    "queued": {"symbol": "square-open", "size": 8},
}


def shape(theme: Theme, state: str) -> dict[str, Any]:
    """Return the mark of a state, in the colour of the state."""
    tokens = THEMES[theme]
    colour = {
        "succeeded": tokens.ink,
        "pruned": tokens.pruned,
        "diverged": tokens.diverged,
        "failed": tokens.failed,
        "cancelled": tokens.ink3,
        "running": tokens.running,
        "queued": tokens.ink3,
    }[state]
    line = {"width": 2 if state in {"pruned", "failed"} else 1.5, "color": colour}
    return {**_SHAPES[state], "color": colour, "line": line}


def coloured(theme: Theme, state: str, places: Sequence[float | None]) -> dict[str, Any]:
    """Return the mark of a state that has a loss: in the colour of the loss, on a thin halo."""
    said: dict[str, Any] = {"color": places, "colorscale": colours(theme), "cmin": 0, "cmax": 1}
    if state == "pruned":  # a line has no inside: its colour is that of its edge
        line = {"width": 2.5, **said}
        return {**_SHAPES[state], "line": line}
    return {**_SHAPES[state], **said, "line": {"width": 1, "color": THEMES[theme].edge}}


def star(theme: Theme, x: float, y: float, told: str, **said: Any) -> dict[str, Any]:
    """Return the mark of the best config, on a halo."""
    tokens = THEMES[theme]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "best",
        "x": [x],
        "y": [y],
        "marker": {
            "symbol": "star",
            "size": 17,
            "color": tokens.star,
            "line": {"width": 2, "color": tokens.surface},
        },
        "hovertemplate": "%{text}<extra>best</extra>",
        "text": [told],
        "cliponaxis": False,
        **said,
    }


def trace(name: str, marks: Mapping[str, Any], **said: Any) -> dict[str, Any]:
    """Return marks as a trace."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "marker": dict(marks),
        "hovertemplate": "%{text}<extra>" + name + "</extra>",
        "cliponaxis": False,
        **said,
    }


def some(losses: Array, most: int = MOST_MARKS, kept: int = KEPT) -> tuple[Array, Array]:
    """Return the places that are marks, in order, and those that a density stands for."""
    everyone = np.arange(len(losses))
    if len(losses) <= most:
        return everyone, everyone[:0]
    is_mark = np.zeros(len(losses), bool)
    is_mark[best(losses, kept)] = True
    is_mark[-kept:] = True
    return np.flatnonzero(is_mark), np.flatnonzero(~is_mark)


def best(losses: Array, many: int) -> Array:
    """Return the places of so many of the best, which come first: of equal ones the first, NaN last."""
    known = np.where(np.isnan(losses), np.inf, losses)
    if many < len(known):
        last = np.partition(known, many - 1)[many - 1]  # sorting all would take ten times as long
        (better,), (equal,) = (known < last).nonzero(), (known == last).nonzero()
        places = np.sort(np.concatenate([better, equal[: many - len(better)]]))
    else:
        places = np.arange(len(known))
    return places[np.argsort(known[places], kind="stable")]


def plain(values: Array) -> list[float | None]:
    """Return numbers as JSON has them: six digits, and null for NaN."""
    return [None if value != value else float(f"{value:.6g}") for value in values.tolist()]  # noqa: PLR0124


def rounded(values: Array) -> list[float]:
    """Return numbers with six digits."""
    return [float(f"{value:.6g}") for value in values.tolist()]


def binned(values: Array, low: float, high: float, many: int) -> Array:
    """Return in which of so many equal bins between two ends each value is."""
    return np.clip(((values - low) * (many / (high - low))).astype(np.intp), 0, many - 1)


def totals(columns: Array, rows: Array, across: int, up: int, weights: Array | None = None) -> Array:
    """Return how many there are in each column and row, or the sum of their weights."""
    counts = np.bincount(rows * across + columns, weights, minlength=across * up)
    return counts.reshape(up, across).astype(float)


def density(theme: Theme, counts: Sequence[Sequence[float]], **where: Any) -> dict[str, Any]:
    """Return a density in ink, as colour is for losses; few are seen beside many, as it goes by roots."""
    tokens = THEMES[theme]
    return {
        "type": "heatmap",
        "z": np.round(np.sqrt(counts), 2).tolist(),
        "colorscale": [[0, tokens.surface], [0.001, tokens.sunken], [1, tokens.ink3]],
        "showscale": False,
        "hoverinfo": "skip",
        "name": "density",
        **where,
    }
