"""The mean of the best value so far over the searches of each arm, against what they have spent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, Final

import numpy as np

from thiessen.figures import sides, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.sides import Side
from thiessen.figures.theme import THEMES, Figure, Table, Theme, axis, axis_title, drawn, note

SHARES: Final = (0.25, 0.5, 1.0)  # of the budget, after which the table tells the means
FEW: Final = 8  # replicates, below which there are no bands


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    unit: str
    budget: float
    replicates: int
    sides: Sequence[Side]
    estimates: Mapping[str, Side]  # of random search, by order statistics
    worst: str | None  # the arm that ends worst
    matched: Mapping[str, float]  # when another arm is as good as that one at its end
    axis: LossAxis


def numbers(report: Mapping[str, Any]) -> Numbers:
    """Return the numbers of the figure."""
    arms = report["arms"]
    shown = [sides.side(arm["label"], arm["expected"]) for arm in arms]
    estimates = {
        arm["label"]: sides.side(arm["label"], arm["order_statistic"])
        for arm in arms
        if arm["order_statistic"] is not None
    }
    values = [value for each in (*shown, *estimates.values()) for value in each.values]
    worst = _worst(shown, report["direction"])
    matched = {
        arm["label"]: arm["spent_to_match"]
        for arm in arms
        if worst is not None and arm["label"] != worst and arm["spent_to_match"] is not None
    }
    return Numbers(
        unit=report["unit"],
        budget=report["budget"],
        replicates=report["replicates"],
        sides=shown,
        estimates=estimates,
        worst=worst,
        matched=matched,
        axis=LossAxis.of(np.array(values, dtype=float), report["direction"]),
    )


def _worst(shown: Sequence[Side], direction: str) -> str | None:
    """Return the arm that ends worst, None where one ends without a mean."""
    ends = {each.label: each.last for each in shown}
    known = {label: end for label, end in ends.items() if end is not None}
    if not known or len(known) < len(ends):
        return None
    return (max if direction == "minimize" else min)(known, key=lambda label: known[label])


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    spans = [0.0, shown.budget]
    placed = [each.on(shown.axis) for each in shown.sides]
    lasts = {each.label: each.last for each in shown.sides}

    def told(each: Side) -> str:
        return f"{text.name(each.label, sides.LONGEST)} {text.short(lasts[each.label])}"

    traces, layout = sides.laid_out(
        theme,
        placed,
        told,
        xaxis=axis(
            theme,
            range=spans,
            title=axis_title(theme, f"{shown.unit} spent by a search"),
            nticks=9,
            tickformat=",~s" if shown.budget >= 10_000 else ",",
        ),
        yaxis=shown.axis.layout(theme),
        shape="hv",
        hover=f"%{{y:.4g}} after %{{x:.4g}} {shown.unit}",
    )
    if len(placed) <= sides.TOGETHER:
        styles = dict(zip(lasts, sides.looks(theme, len(placed)), strict=True))
        traces += [
            _estimate(shown.estimates[label].on(shown.axis), look)
            for label, look in styles.items()
            if label in shown.estimates
        ]
        traces += _match(shown, theme)
        layout["annotations"] += _told_match(shown, theme)
    is_log = " (log)" if shown.axis.is_log else ""
    above = note(theme, f"mean best value so far{is_log}", x=0, y=1, xanchor="left", yanchor="bottom")
    above["yshift"] = layout["above"] - 14
    layout["annotations"].append(above)
    return drawn(
        theme,
        traces,
        kind="expected",
        title="Expected best",
        caption=_caption(shown),
        table=_table(shown),
        **layout,
    )


def _estimate(each: Side, look: sides.Look) -> Figure:
    """Return the thin line of what so many random draws are worth, out of all of them."""
    hover = f"{text.name(each.label)}, by order statistics: %{{y:.4g}} after %{{x:.4g}}<extra></extra>"
    thin = {"shape": "hv", "width": 1, "color": look["color"]}
    return {**sides.line(each, look), "line": thin, "hovertemplate": hover}


def _match(shown: Numbers, theme: Theme) -> list[Figure]:
    """Return marks where arms are as good as the worst one at its end, on a line that leads to that."""
    end = next((each.on(shown.axis).last for each in shown.sides if each.label == shown.worst), None)
    if not shown.matched or end is None:
        return []
    tokens = THEMES[theme]
    spent = list(shown.matched.values())
    told = [f"{text.name(label)}: {_count(shown, at)}" for label, at in shown.matched.items()]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "what the worst arm ends with",
            "x": [min(spent), shown.budget],
            "y": [end, end],
            "line": {"width": 1, "dash": "dot", "color": tokens.ink},
            "hoverinfo": "skip",
            "showlegend": False,
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "as good as that",
            "x": spent,
            "y": [end] * len(spent),
            "text": told,
            "marker": {"size": 9, "color": tokens.surface, "line": {"width": 2, "color": tokens.ink}},
            "hovertemplate": "%{text}, as good as the worst arm at its end<extra></extra>",
            "showlegend": False,
        },
    ]


def _told_match(shown: Numbers, theme: Theme) -> list[Figure]:
    """Return what stands above the first of these marks; the caption says what it means."""
    end = next((each.on(shown.axis).last for each in shown.sides if each.label == shown.worst), None)
    if not shown.matched or end is None:
        return []
    spent = min(shown.matched.values())
    there = spent / shown.budget
    side = "left" if there < 0.2 else "right" if there > 0.8 else "center"
    y = log10(end) if shown.axis.is_log else end
    where = {"x": spent, "xref": "x", "y": y, "yref": "y", "xanchor": side, "yanchor": "bottom", "yshift": 8}
    font = {"size": 12, "color": THEMES[theme].ink}
    return [
        note(theme, _count(shown, spent), **where, font=font, bgcolor=THEMES[theme].surface, opacity=0.85)
    ]


def _count(shown: Numbers, spent: float) -> str:
    return f"{spent:,.4g} {shown.unit}" if spent != 1 else f"1 {shown.unit.removesuffix('s')}"


def _table(shown: Numbers) -> Table:
    after = [shown.budget * share for share in SHARES]
    rows = [
        (
            text.name(each.label),
            *(text.short(each.after(spent)) for spent in after),
            text.short(each.low[-1] if each.low else None),
            text.short(each.high[-1] if each.high else None),
            text.short(shown.matched.get(each.label)),
        )
        for each in shown.sides
    ]
    means = [f"after {text.short(spent)} {shown.unit}" for spent in after]
    return Table(["arm", *means, "band from", "to", f"{shown.unit} to the worst arm's end"], rows)


def _caption(shown: Numbers) -> str:
    if not any(each.values for each in shown.sides):
        return "No search has a value yet."
    searches = text.count(shown.replicates, "search").replace("searchs", "searches")
    told = f"Mean of the best so far over {searches} of each arm"
    if any(each is not None for side in shown.sides for each in side.low):
        told += ", with 95 % bands"
    elif shown.replicates < FEW:
        told += f"; bands need {FEW}"
    if shown.matched and shown.worst is not None:
        first = min(shown.matched, key=lambda label: shown.matched[label])
        told += (
            f". {text.name(first)} needs {_count(shown, shown.matched[first])} for what "
            f"{text.name(shown.worst)} comes to in {shown.budget:,.6g}"
        )
    if shown.estimates and len(shown.sides) <= sides.TOGETHER:
        told += ". Thin: random draws, by order statistics"
    return told + "."
