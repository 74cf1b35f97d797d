"""How the best confirmed config of each arm learns: against updates and against seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.figures import sides, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.sides import Side
from thiessen.figures.theme import Figure, Table, Theme, axis, axis_title, drawn

OVER: Final = ("updates", "seconds")
MOST_METRICS: Final = 4


@dataclass(frozen=True, kw_only=True)
class Metric:
    """The lines of all arms that reported it."""

    name: str
    lines: Mapping[str, Sequence[Side]]  # by what they are over
    axis: LossAxis


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    arms: Sequence[str]
    metrics: Sequence[Metric]
    left: Sequence[str]  # metrics without room


def numbers(report: Mapping[str, Any]) -> Numbers:
    """Return the numbers of the figure."""
    arms = report["arms"]
    names = list(dict.fromkeys(each["metric"] for arm in arms for each in arm["training"]))
    return Numbers(
        arms=[arm["label"] for arm in arms],
        metrics=[_metric(name, arms) for name in names[:MOST_METRICS]],
        left=names[MOST_METRICS:],
    )


def _metric(name: str, arms: Sequence[Mapping[str, Any]]) -> Metric:
    lines = {
        over: [
            sides.side(arm["label"], each["line"])
            for arm in arms
            for each in arm["training"]
            if each["metric"] == name and each["over"] == over
        ]
        for over in OVER
    }
    values = [value for each in lines.values() for line in each for value in line.values]
    return Metric(name=name, lines=lines, axis=LossAxis.of(np.array(values, dtype=float)))


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    is_many = len(shown.arms) > sides.TOGETHER
    traces, layout = _alone(shown, theme) if is_many and shown.metrics else _rows(shown, theme)
    return drawn(
        theme,
        traces,
        kind="training",
        title="Training of the best config",
        caption=_caption(shown),
        table=_table(shown),
        **layout,
    )


def _alone(shown: Numbers, theme: Theme) -> tuple[list[Figure], dict[str, Any]]:
    """Return a panel for each arm: the first metric over updates."""
    metric = shown.metrics[0]
    placed = [each.on(metric.axis) for each in metric.lines["updates"]]
    return sides.laid_out(
        theme,
        placed,
        lambda each: f"{text.name(each.label, sides.LONGEST)} {text.short(each.last)}",
        xaxis=axis(theme, title=axis_title(theme, "updates"), range=_span(placed)),
        yaxis=metric.axis.layout(theme),
    )


def _rows(shown: Numbers, theme: Theme) -> tuple[list[Figure], dict[str, Any]]:
    """Return a row for each metric: against updates, and against seconds."""
    rows = max(len(shown.metrics), 1)
    styles = dict(zip(shown.arms, sides.looks(theme, len(shown.arms)), strict=True)) if shown.metrics else {}
    traces: list[Figure] = []
    layout: dict[str, Any] = {"height": sides.height(rows), "right": sides.ROOM, "above": 22}
    annotations: list[Figure] = []
    panels = iter(sides.panels(2 * rows, across=2))
    for metric in shown.metrics:
        for over, panel in zip(OVER, panels, strict=False):
            placed = [each.on(metric.axis) for each in metric.lines[over]]
            on = {"xaxis": f"x{panel.suffix}", "yaxis": f"y{panel.suffix}"}
            traces += [band for each in placed for band in sides.bands(each, styles[each.label], **on)]
            traces += [
                sides.line(each, styles[each.label], hover=f"%{{y:.4g}} after %{{x:.4g}} {over}", **on)
                for each in placed
            ]
            layout[f"xaxis{panel.suffix}"] = axis(
                theme,
                title=axis_title(theme, over) if panel.is_lowest else None,
                domain=panel.x,
                anchor=on["yaxis"],
                range=_span(placed),
                nticks=5,
            )
            y = metric.axis.layout(theme, domain=panel.y, anchor=on["xaxis"], showticklabels=panel.is_first)
            layout[f"yaxis{panel.suffix}"] = y
            if panel.is_first:
                is_log = " (log)" if metric.axis.is_log else ""
                annotations.append(sides.title(theme, panel, f"{text.name(metric.name)}{is_log}"))
            else:
                annotations += _names(metric, placed, styles, theme, panel, rows)
    return traces, {**layout, "annotations": annotations}


def _names(
    metric: Metric,
    placed: Sequence[Side],
    styles: Mapping[str, sides.Look],
    theme: Theme,
    panel: sides.Panel,
    rows: int,
) -> list[Figure]:
    """Return the names of the lines, with what they end with."""
    lasts = {each.label: each.last for each in metric.lines["seconds"]}
    ends = [
        (
            f"{text.name(each.label, sides.LONGEST)} {text.short(lasts[each.label])}",
            each.last,
            styles[each.label],
        )
        for each in placed
        if each.last is not None
    ]
    height = sides.height(rows)
    return sides.names(
        theme, ends, span=metric.axis.range, is_log=metric.axis.is_log, y=panel.y, height=height
    )


def _span(lines: Sequence[Side]) -> list[float]:
    return [0.0, max((x for each in lines for x in each.x), default=1.0)]


def _table(shown: Numbers) -> Table:
    rows = [
        (
            text.name(each.label),
            text.name(metric.name),
            text.short(each.x[-1]) if over == "updates" else "",
            text.short(each.x[-1]) if over == "seconds" else "",
            text.short(each.last),
        )
        for metric in shown.metrics
        for over in OVER
        for each in metric.lines[over]
        if each.x
    ]
    return Table(["arm", "metric", "updates", "seconds", "at the end"], rows)


def _caption(shown: Numbers) -> str:
    if not shown.metrics:
        return "No config has been confirmed yet, or nothing was reported while it trained."
    told = "The best confirmed config of each arm, the mean of its runs"
    if any(
        each is not None
        for metric in shown.metrics
        for lines in metric.lines.values()
        for line in lines
        for each in line.low
    ):
        told += " with their spread"
    if len(shown.arms) > sides.TOGETHER:
        return f"{told}: {text.name(shown.metrics[0].name)}."
    if shown.left:
        told += f". Without room: {', '.join(map(text.name, shown.left))}"
    return told + "."
