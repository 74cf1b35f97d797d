"""How much depends on the config: the share of good trials, and of those that diverged, of each arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from thiessen.figures import sides, text
from thiessen.figures.theme import LABEL, MONO, THEMES, Figure, Table, Theme, axis, axis_title, drawn, note

ROW: Final = 46  # pixels of an arm
BAR: Final = 0.36  # of them
GAP: Final = 0.12  # between the two panels
SIDES: Final = (("x", "y", 0.0, 0.5 - GAP / 2), ("x2", "y2", 0.5 + GAP / 2, 1.0))


@dataclass(frozen=True, kw_only=True)
class Row:
    """The trials of one arm."""

    label: str
    trials: int
    good: float | None  # the share
    diverged: float | None
    is_unbiased: bool


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    within: float  # per cent
    rows: Sequence[Row]


def numbers(report: Mapping[str, Any]) -> Numbers:
    """Return the numbers of the figure."""
    found = [(arm["label"], arm["sensitivity"]) for arm in report["arms"]]
    rows = [
        Row(
            label=label,
            trials=each["trials"],
            good=each["share"],
            diverged=each["diverged"],
            is_unbiased=each["is_unbiased"],
        )
        for label, each in found
    ]
    return Numbers(within=found[0][1]["within"], rows=rows)


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    levels = list(range(len(shown.rows) - 1, -1, -1))
    good = f"within {shown.within:g} % of the best"
    traces, layout, annotations = [], dict[str, Any](), []
    for (x, y, left, right), title, shares, colour in zip(
        SIDES,
        (good, "diverged"),
        ([row.good for row in shown.rows], [row.diverged for row in shown.rows]),
        (tokens.ink2, tokens.diverged),
        strict=True,
    ):
        most = max([share for share in shares if share is not None] + [0.05])
        traces.append(_bars(shown, title, shares, levels, colour, {"xaxis": x, "yaxis": y}))
        layout[x.replace("x", "xaxis")] = axis(
            theme,
            domain=[left, right],
            anchor=y,
            range=[0, 1.3 * most],
            tickformat=".0%" if most >= 0.03 else ".1%",
            nticks=4,
            title=axis_title(theme, "share of trials"),
        )
        layout[y.replace("y", "yaxis")] = {
            "domain": [0, 1],
            "anchor": x,
            "range": [-0.5, len(shown.rows) - 0.5],
            "visible": False,
            "fixedrange": True,
        }
        annotations.append(
            note(theme, title, x=left, y=1, xanchor="left", yanchor="bottom", yshift=6, font=_ink(theme))
        )
        annotations += [
            _name(theme, row, level, left, y) for row, level in zip(shown.rows, levels, strict=True)
        ]
    return drawn(
        theme,
        traces,
        kind="sensitivity",
        title="Sensitivity",
        caption=_caption(shown),
        table=_table(shown),
        height=ROW * len(shown.rows),
        left=16,
        right=16,
        above=24,
        bargap=0,
        annotations=annotations,
        **layout,
    )


def _bars(
    shown: Numbers,
    title: str,
    shares: Sequence[float | None],
    levels: Sequence[int],
    colour: str,
    on: Mapping[str, str],
) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "name": title,
        "x": [share or 0.0 for share in shares],
        "y": [level - 0.16 for level in levels],
        "width": BAR,
        "marker": {"color": colour},
        "text": [_share(share) for share in shares],
        "textposition": "outside",
        "textangle": 0,
        "cliponaxis": False,
        "textfont": {"size": LABEL},
        "hovertext": [
            f"{text.name(row.label)}: {_share(share)} of {text.count(row.trials, 'trial')} {title}"
            for row, share in zip(shown.rows, shares, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
        **on,
    }


def _ink(theme: Theme) -> dict[str, Any]:
    return {"size": LABEL, "color": THEMES[theme].ink2}


def _name(theme: Theme, row: Row, level: int, left: float, y: str) -> Figure:
    """Return the name of an arm above its bar; a star is for one that looked where it was good."""
    told = text.name(row.label, sides.LONGEST + 3) + ("" if row.is_unbiased else " *")
    font = {"size": LABEL, "family": MONO, "color": THEMES[theme].ink2}
    return note(theme, told, x=left, xanchor="left", yref=y, y=level + 0.32, yanchor="middle", font=font)


def _share(share: float | None) -> str:
    if share is None:
        return text.short(None)
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.3g} %"


def _table(shown: Numbers) -> Table:
    rows = [
        (
            text.name(row.label),
            row.trials,
            _share(row.good),
            _share(row.diverged),
            "yes" if row.is_unbiased else "no",
        )
        for row in shown.rows
    ]
    return Table(["arm", "trials", f"within {shown.within:g} %", "diverged", "drawn alike everywhere"], rows)


def _caption(shown: Numbers) -> str:
    if not any(row.trials for row in shown.rows):
        return "No trial has finished yet."
    told = (
        f"The share of trials within {shown.within:g} % of the best of all arms, and of those that diverged"
    )
    if any(not row.is_unbiased for row in shown.rows):
        told += ". With a star: its search looks where it is good, so this says less of the space"
    return told + "."
