"""Draws pictures as SVG, the same bytes for the same numbers."""

from collections.abc import Sequence
from io import StringIO
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from experiments.experiment import Line, Panel, Picture

COLOURS: Final = ("#1f5fa8", "#b3412e", "#3c7d3c", "#7b4fa0", "#8a6d1a", "#1d8a8a", "#a03c74", "#555555")
DASHES: Final = ("-", "--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 3)), (0, (8, 3)))
LEVELS: Final = 14
SCALE: Final = "viridis"
OFF_SCALE: Final = "#9a9a94"
LOOKS: Final[Any] = {
    "svg.hashsalt": "thiessen",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e0",
}


def draw(picture: Picture, file: Path) -> None:
    """Write a picture."""
    columns = min(picture.columns, len(picture.panels))
    rows = -(-len(picture.panels) // columns)
    with mpl.rc_context(LOOKS):
        figure = Figure(
            figsize=(4.6 * columns + (0.0 if columns > 1 else 2.0), 3.5 * rows), layout="constrained"
        )
        alike = len(picture.scale) > 0  # what has one scale of colours has the same axes too
        axes = figure.subplots(rows, columns, squeeze=False, sharex=alike, sharey=alike).flatten()
        for at, each in enumerate(axes):
            if at < len(picture.panels):
                _panel(each, picture.panels[at], picture.scale)
            else:
                each.axis("off")
        if len(picture.scale):
            low, high = picture.scale
            of = ScalarMappable(Normalize(low, high), SCALE)
            figure.colorbar(of, ax=list(axes), label=picture.scaled, extend="max")
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    file.write_text("\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n")


def _panel(axes: Any, panel: Panel, scale: Sequence[float]) -> None:
    if len(panel.surface):
        _surface(axes, panel)
    for line, colour, dash in zip(panel.lines, cycle(COLOURS), cycle(DASHES), strict=False):
        _line(axes, line, colour, dash, scale)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if any(line.name for line in panel.lines):
        axes.legend(fontsize=8, framealpha=0.85)


def _surface(axes: Any, panel: Panel) -> None:
    values = np.array(panel.surface, dtype=float)
    x = panel.surface_x or range(values.shape[1])
    y = panel.surface_y or range(values.shape[0])
    if panel.is_filled:
        axes.grid(visible=False)
        drawn = axes.pcolormesh(x, y, values, cmap=SCALE, shading="nearest", rasterized=True)
        axes.figure.colorbar(drawn, ax=axes)
        if not panel.surface_y:
            axes.invert_yaxis()  # of a matrix, or of an image
    else:
        axes.contour(x, y, values, levels=LEVELS, cmap=SCALE, linewidths=0.8)


def _line(axes: Any, line: Line, colour: str, dash: Any, scale: Sequence[float]) -> None:
    y = _numbers(line.y)
    if len(line.colours):
        _coloured(axes, line, scale)
        return
    if line.points:
        axes.plot(line.x, y, "o", color=colour, markersize=4, label=line.name)
        return
    axes.plot(line.x, y, linestyle=dash, color=colour, linewidth=1.6, label=line.name)
    if len(line.low):
        axes.fill_between(
            line.x, _numbers(line.low), _numbers(line.high), color=colour, alpha=0.18, linewidth=0
        )


def _coloured(axes: Any, line: Line, scale: Sequence[float]) -> None:
    """Draw points in the colours of a scale, those off it as grey crosses."""
    x, y, places = _numbers(line.x), _numbers(line.y), _numbers(line.colours)
    on = np.isfinite(places)
    low, high = scale
    axes.scatter(x[~on], y[~on], marker="x", s=16, color=OFF_SCALE, linewidths=0.8)
    axes.scatter(x[on], y[on], c=places[on], cmap=SCALE, vmin=low, vmax=high, s=18, label=line.name)


def _numbers(values: Any) -> Any:
    return np.array([np.nan if each is None else each for each in values], dtype=float)
