"""On which share of several comparisons an arm needs at most so many times the least effort."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, Final

from thiessen.figures import sides, text
from thiessen.figures.sides import Side
from thiessen.figures.theme import Figure, Table, Theme, axis, axis_title, drawn, note

TOP: Final = 1.04  # of the upright axis: a line at 1 is seen whole


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    comparisons: int
    over: str
    largest: float
    sides: Sequence[Side]
    areas: Mapping[str, float]
    reached: Mapping[str, int]  # in how many of the comparisons an arm reached the target


def numbers(profile: Mapping[str, Any]) -> Numbers:
    """Return the numbers of the figure."""
    largest, needed = profile["largest_factor"], profile["needed"]
    return Numbers(
        comparisons=len(profile["comparisons"]),
        over=profile["over"],
        largest=largest,
        sides=[_side(line, largest) for line in profile["lines"]],
        areas={line["label"]: line["area"] for line in profile["lines"]},
        reached={
            line["label"]: sum(arms.get(line["label"]) is not None for arms in needed.values())
            for line in profile["lines"]
        },
    )


def _side(line: Mapping[str, Any], largest: float) -> Side:
    """Return the steps of an arm, from the factor 1 to the largest."""
    steps = [
        (factor, share)
        for factor, share in zip(line["factor"], line["share"], strict=True)
        if 1 <= factor <= largest
    ]
    before = [] if steps and steps[0][0] == 1 else [(1.0, 0.0)]
    last = steps[-1][1] if steps else 0.0
    points = [*before, *steps, (largest, last)]
    nothing = [None] * len(points)
    return Side(
        label=line["label"],
        x=[factor for factor, _ in points],
        y=[share for _, share in points],
        low=nothing,
        high=nothing,
    )


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""

    def told(each: Side) -> str:
        return f"{text.name(each.label, sides.LONGEST)} {100 * (each.last or 0):.0f} %"

    end = max(shown.largest, 1.1)
    ticks = [factor for factor in (1, 2, 3, 5, 10, 20, 50, 100, 1000) if factor <= end]
    traces, layout = sides.laid_out(
        theme,
        shown.sides,
        told,
        xaxis=axis(
            theme,
            type="log",
            range=[0, log10(end)],
            tickmode="array",
            tickvals=ticks,
            ticktext=[f"{factor}×" for factor in ticks],  # noqa: RUF001 - the sign for times
            title=axis_title(theme, f"{shown.over} needed, as many times as the fastest needs"),
        ),
        yaxis=axis(
            theme, range=[0, TOP], tickformat=".0%", nticks=6, showgrid=True, showline=False, ticks=""
        ),
        shape="hv",
        hover="%{y:.0%} within %{x:.3g} times the least",
    )
    above = note(theme, "share of comparisons", x=0, y=1, xanchor="left", yanchor="bottom")
    layout["annotations"].append({**above, "yshift": layout["above"] - 14, "xshift": -40})
    return drawn(
        theme,
        traces,
        kind="profile",
        title="Performance profile",
        caption=_caption(shown),
        table=_table(shown),
        **layout,
    )


def _table(shown: Numbers) -> Table:
    rows = [
        (
            text.name(each.label),
            shown.reached[each.label],
            text.short(each.after(1.0)),
            text.short(each.last),
            text.short(shown.areas[each.label]),
        )
        for each in shown.sides
    ]
    return Table(["arm", "targets reached", "share at 1", f"share at {shown.largest:g}", "area"], rows)


def _caption(shown: Numbers) -> str:
    if not shown.sides:
        return "No arm is in any of these comparisons."
    told = f"Over {text.count(shown.comparisons, 'comparison')}: how often an arm reaches the target"
    told += f" with at most so many times the {shown.over} of the fastest"
    best = max(shown.areas, key=lambda label: shown.areas[label])
    return f"{told}. The most area is below {text.name(best)}, {text.short(shown.areas[best])}."
