"""What each slot did over time: a bar for each attempt, in the colour of its trial's loss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.figures import marks, text
from thiessen.figures.scale import Scale
from thiessen.figures.table import ROWS
from thiessen.figures.theme import MONO, THEMES, Figure, Table, Theme, axis, axis_title, drawn
from thiessen.figures.trials import Attempt, Trials

MOST_ATTEMPTS: Final = 1000
MOST_ROWS: Final = 40
ROW: Final = 24  # pixels
THICK: Final = 0.36  # half the height of a bar, in rows
CLOCKS: Final = (  # how times are told while they span less than so many seconds
    (15, "%H:%M:%S.%1f"),
    (900, "%H:%M:%S"),
    (2 * 86400, "%H:%M"),
    (math.inf, "%d %b"),
)
LOST: Final = ("lost", "released", "cancelled")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One attempt."""

    row: int
    trial: int
    start: float  # seconds since 1970
    end: float  # now, while it runs
    outcome: str  # running, succeeded, diverged, pruned, lost, or how it failed
    place: float | None  # on the scale of losses, where its trial got a loss by it


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows: rows by name, the latest attempts."""

    rows: Sequence[str]
    slots: int  # of which rows are shown
    bars: Sequence[Bar]
    is_cut: bool  # whether there were attempts before these
    busy: float | None  # share of the time that the rows had an attempt
    scale: Scale


def numbers(trials: Trials) -> Numbers:
    """Return the numbers of the figure."""
    attempts = sorted(trials.attempts, key=lambda each: (each.start, each.trial))[-MOST_ATTEMPTS:]
    latest: dict[tuple[str, str], float] = {}
    for each in attempts:
        latest[each.worker, each.device] = each.start
    slots = sorted(sorted(latest, key=lambda slot: -latest[slot])[:MOST_ROWS])
    row_of = {slot: row for row, slot in enumerate(slots)}
    scale = trials.scale
    bars = [
        _bar(each, row_of[each.worker, each.device], trials.now, scale)
        for each in attempts
        if (each.worker, each.device) in row_of
    ]
    return Numbers(
        rows=[f"{worker} {device}".strip() for worker, device in slots],
        slots=len(latest),
        bars=bars,
        is_cut=len(trials.attempts) > MOST_ATTEMPTS,
        busy=_busy(bars, len(slots)),
        scale=scale,
    )


def _bar(attempt: Attempt, row: int, now: float, scale: Scale) -> Bar:
    end = max(now, attempt.start) if attempt.end is None else attempt.end
    loss = attempt.loss if attempt.outcome in {"succeeded", "pruned"} else None
    return Bar(
        row=row,
        trial=attempt.trial,
        start=attempt.start,
        end=end,
        outcome=attempt.outcome or "running",
        place=None if loss is None else round(float(scale.places(np.array([loss]))[0]), 3),
    )


def _busy(bars: Sequence[Bar], rows: int) -> float | None:
    """Return the share of the time from the first start to the last end; attempts of one slot may overlap."""
    if not bars:
        return None
    begin, end = min(bar.start for bar in bars), max(bar.end for bar in bars)
    if end <= begin:
        return None
    total = 0.0
    for row in range(rows):
        last = begin
        for bar in sorted((bar for bar in bars if bar.row == row), key=lambda bar: bar.start):
            total += max(bar.end - max(bar.start, last), 0.0)
            last = max(last, bar.end)
    return round(total / (rows * (end - begin)), 4)


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    looks: dict[str, tuple[Any, list[Bar]]] = {}
    for bar in shown.bars:
        key, look = _look(shown, bar, theme)
        looks.setdefault(key, (look, []))[1].append(bar)
    traces = [_boxes(bars, look) for look, bars in looks.values()]
    traces += [_ends(shown, theme, state) for state in _states(shown)]
    traces.append(_hover(shown))
    many = max(len(shown.rows), 1)
    names = [text.name(row, 26) for row in shown.rows]
    return drawn(
        theme,
        traces if shown.bars else [],
        kind="timeline",
        title="Slots",
        caption=_caption(shown),
        table=_table(shown),
        height=many * ROW + 12,
        legend=bool(_states(shown)),
        left=24 + round(7.4 * max(map(len, names), default=4)),
        xaxis=axis(
            theme,
            type="date",
            title=axis_title(theme, _days(shown)),
            tickformat=_clock(shown),
            tickangle=0,
            nticks=5,
            showgrid=True,
        ),
        yaxis=axis(
            theme,
            range=[many - 0.4, -0.6],
            tickmode="array",
            tickvals=list(range(many)),
            ticktext=names,
            tickfont={"size": 12, "family": MONO, "color": tokens.ink2},
            showline=False,
            ticks="",
        ),
    )


def _ends_of_time(shown: Numbers) -> tuple[float, float]:
    """Return when the first attempt began, and when the last one ended."""
    return shown.bars[0].start, max(bar.end for bar in shown.bars)


def _clock(shown: Numbers) -> str:
    """Return how times are told at the axis: as finely as they differ."""
    begin, end = _ends_of_time(shown) if shown.bars else (0.0, 0.0)
    return next(told for seconds, told in CLOCKS if end - begin < seconds)


def _days(shown: Numbers) -> str:
    """Return the title of the axis: of which days these times are."""
    if not shown.bars:
        return "time (UTC)"
    first, last = (text.instant(second)[:10] for second in _ends_of_time(shown))
    return f"{first} (UTC)" if first == last else f"{first} to {last} (UTC)"


def _kind(bar: Bar) -> str:
    """Return which mark stands at the end of a bar: none at one that succeeded."""
    if bar.outcome in {"running", "succeeded", "diverged", "pruned"}:
        return bar.outcome
    return "cancelled" if bar.outcome in LOST else "failed"


def _look(shown: Numbers, bar: Bar, theme: Theme) -> tuple[str, Any]:
    tokens = THEMES[theme]
    kind = _kind(bar)
    if bar.place is not None:
        colour = shown.scale.colour(theme, bar.place)
        return colour, {"fillcolor": colour, "line": {"width": 0.8, "color": tokens.edge}}
    if kind == "diverged":
        hatch = {
            "shape": "/",
            "fgcolor": tokens.diverged,
            "bgcolor": tokens.losses[-1],
            "size": 6,
            "solidity": 0.2,
        }
        line = {"width": 1, "color": tokens.diverged}
        return kind, {"fillcolor": tokens.losses[-1], "fillpattern": hatch, "line": line}
    colour = {"running": tokens.running, "failed": tokens.failed}.get(kind, tokens.ink3)
    line = {"width": 1.5, "color": colour, "dash": "dot" if kind == "running" else "solid"}
    return kind, {"fillcolor": tokens.surface, "line": line}


def _boxes(bars: Sequence[Bar], look: Any) -> Figure:
    corners = [
        (text.instant(second), bar.row + up)
        for bar in bars
        for second, up in (
            (bar.start, -THICK),
            (bar.end, -THICK),
            (bar.end, THICK),
            (bar.start, THICK),
            (bar.start, -THICK),
        )
    ]
    x: list[str | None] = []
    y: list[float | None] = []
    for at, (across, up) in enumerate(corners):
        x.append(across)
        y.append(up)
        if at % 5 == 4:
            x.append(None)
            y.append(None)
    box = {"type": "scatter", "mode": "lines", "x": x, "y": y, "fill": "toself", "hoverinfo": "skip"}
    return {**box, "showlegend": False, **look}


def _states(shown: Numbers) -> list[str]:
    kinds = {_kind(bar) for bar in shown.bars} - {"succeeded"}
    return [state for state in marks.STATES if state in kinds]


def _ends(shown: Numbers, theme: Theme, state: str) -> Figure:
    """Return the marks at the ends of bars, so that colour alone does not tell."""
    there = [bar for bar in shown.bars if _kind(bar) == state]
    name = "lost or given back" if state == "cancelled" else state
    look = marks.shape(theme, state)
    if state == "pruned":
        look["symbol"] = "line-ns"
        look["size"] = 16
        look["line"] = {"width": 2.5, "color": THEMES[theme].pruned}
    x, y = [text.instant(bar.end) for bar in there], [bar.row for bar in there]
    return {**marks.trace(name, look, x=x, y=y), "hoverinfo": "skip", "hovertemplate": None}


def _hover(shown: Numbers) -> Figure:
    """Return what is told in the middle of a bar."""
    told = [
        f"trial {bar.trial}, {bar.outcome}, {_span(bar.end - bar.start)}, {text.name(shown.rows[bar.row])}"
        for bar in shown.bars
    ]
    middles = [text.instant((bar.start + bar.end) / 2) for bar in shown.bars]
    look = {"size": 14, "opacity": 0}
    return marks.trace("", look, x=middles, y=[bar.row for bar in shown.bars], text=told, showlegend=False)


def _span(seconds: float) -> str:
    """Return how long something took, in two units."""
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} {int(seconds % size // part)} {smaller}"
    return f"{seconds:.3g} s"


def _table(shown: Numbers) -> Table:
    """Return the latest attempts, the last first."""
    rows = [
        (
            bar.trial,
            text.name(shown.rows[bar.row]),
            bar.outcome,
            text.instant(bar.start),
            _span(bar.end - bar.start),
        )
        for bar in shown.bars[: -ROWS - 1 : -1]
    ]
    return Table(["trial", "slot", "outcome", "begun, UTC", "took"], rows)


def _caption(shown: Numbers) -> str:
    if not shown.bars:
        return "No attempt has begun yet."
    told = text.count(len(shown.bars), "attempt")
    told = f"The latest {told}" if shown.is_cut else told[0].upper() + told[1:]
    if shown.slots > len(shown.rows):
        told += f" on {len(shown.rows)} of {shown.slots} slots, those that worked last"
    else:
        told += f" on {text.count(len(shown.rows), 'slot')}"
    if shown.busy is not None:
        told += f"; busy for {shown.busy:.0%} of the time".replace("%", " %")
    return told + ". A bar has the colour of its trial's loss."
