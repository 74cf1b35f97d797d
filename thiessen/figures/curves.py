"""Learning curves: what trials reported step by step."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.scale import Scale
from thiessen.figures.table import ROWS
from thiessen.figures.theme import THEMES, Figure, Table, Theme, axis, axis_title, drawn, note
from thiessen.figures.trials import Curve, Trials
from thiessen.figures.wanted import FigureError, Wanted

MOST_LINES: Final = 200
BEST_LINES: Final = 100
RUNNING_LINES: Final = 40
MOST_POINTS: Final = 20_000  # of all lines
LONGEST: Final = 2_000  # points of one
LEADING: Final = 5  # that are told by name
APART: Final = 0.055  # of the height: as close as two labels come


@dataclass(frozen=True, kw_only=True)
class Line:
    """The curve of one trial."""

    number: int
    state: str
    steps: Sequence[float]
    values: Sequence[float | None]  # None where it was not finite
    place: float | None  # of the trial on the scale of losses; None without a loss


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows: the leading lines last, the best of all at the end."""

    metric: str | None  # None when nothing was reported
    trials: int
    chosen: int  # whose curves were looked at
    lines: Sequence[Line]
    leading: int  # how many lines at the end are told by name
    best: int | None  # the trial of the last line, where that is the best of all
    asked: bool  # whether the leading ones were asked for, beside the best
    axis: LossAxis
    scale: Scale


def chosen(trials: Trials, also: Sequence[int] = ()) -> list[int]:
    """Return whose curves are looked at: the best, others evenly spread, some that run, and these."""
    return list(dict.fromkeys([*trials.numbers[_places(trials)].tolist(), *_running(trials), *also]))


def _places(trials: Trials) -> Array:
    """Return the places of the finished ones among them."""
    best = marks.best(np.where(trials.succeeded, trials.losses, np.inf), BEST_LINES)
    is_other = np.ones(len(trials), bool)
    is_other[best] = False
    others = np.flatnonzero(is_other)
    room = MOST_LINES - BEST_LINES - len(_running(trials))
    if len(others) > room:
        others = others[np.linspace(0, len(others) - 1, room).astype(np.intp)]
    return np.concatenate([best, others])


def _running(trials: Trials) -> list[int]:
    return [each.number for each in trials.unfinished if each.state == "running"][-RUNNING_LINES:]


def numbers(trials: Trials, wanted: Wanted) -> Numbers:
    """Return the numbers of the figure. Raises FigureError where nobody reported such a metric."""
    looked_at = chosen(trials, wanted.trials)
    curves = {number: trials.curves[number] for number in looked_at if trials.curves.get(number)}
    metric = _metric(curves.values(), wanted.metric or trials.metric, is_asked=wanted.metric is not None)
    scale = trials.scale
    most = min(max(MOST_POINTS // max(len(curves), 1), 2), LONGEST)
    places = [*_places(trials).tolist(), *np.flatnonzero(np.isin(trials.numbers, wanted.trials)).tolist()]
    ended = {int(trials.numbers[place]): place for place in places}
    state_of = dict.fromkeys(looked_at, "running") | {
        number: str(trials.states[place]) for number, place in ended.items()
    }
    loss_of = {
        number: float(trials.losses[place]) for number, place in ended.items() if trials.succeeded[place]
    }
    lines = [
        _line(number, state_of[number], curve, metric, loss_of.get(number), scale, most)
        for number, curve in curves.items()
    ]
    lines = [line for line in lines if any(value is not None for value in line.values)]
    best = None if trials.best is None else int(trials.numbers[trials.best])
    asked = {*wanted.trials, best} if wanted.trials else set()

    def order(line: Line) -> Any:
        is_best = line.number == best
        rank = (line.number in asked) + is_best, line.place is not None
        return *rank, -loss_of.get(line.number, np.inf), -line.number

    lines.sort(key=order)
    placed = sum(line.place is not None for line in lines)
    leading = sum(line.number in asked for line in lines) if asked else min(LEADING, placed)
    values = [value for line in lines for value in line.values if value is not None]
    return Numbers(
        metric=metric,
        trials=len(trials) + len(trials.unfinished),
        chosen=len(looked_at),
        lines=lines,
        leading=leading,
        best=best if lines and lines[-1].number == best else None,
        asked=bool(asked),
        axis=LossAxis.of(np.array(values), trials.direction),
        scale=scale,
    )


def _metric(curves: Any, wanted: str | None, *, is_asked: bool) -> str | None:
    """Return what to draw. Raises FigureError when it was asked for and is not there."""
    found: Counter[str] = Counter()
    for curve in curves:
        for name in {name for _, metrics in curve for name in metrics}:
            found[name] += 1
    if wanted in found or not found:
        return wanted if found else None
    if is_asked:
        names = ", ".join(sorted(found)[:10])
        raise FigureError(f"metric: no trial reported {wanted!r}; reported were {names}.")
    first = next(name for curve in curves for _, metrics in curve for name in metrics)
    most = max(found.values())
    return first if found[first] == most else min(name for name, many in found.items() if many == most)


def _line(
    number: int, state: str, curve: Curve, metric: str | None, loss: float | None, scale: Scale, most: int
) -> Line:
    points = [(step, metrics[metric]) for step, metrics in curve if metric is not None and metric in metrics]
    if len(points) > most:
        points = [points[at] for at in np.linspace(0, len(points) - 1, most).astype(int).tolist()]
    place = None if loss is None else round(float(scale.places(np.array([loss]))[0]), 3)
    values = np.array([value for _, value in points], float)
    return Line(
        number=number,
        state=state,
        steps=[step for step, _ in points],
        values=marks.plain(np.where(np.isfinite(values), values, np.nan)),
        place=place,
    )


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    others = shown.lines[: len(shown.lines) - shown.leading]
    leading = shown.lines[len(shown.lines) - shown.leading :]
    running = [line for line in others if line.state in {"running", "queued"}]
    ended = [line for line in others if line.state not in {"running", "queued"}]
    traces = []
    if ended:
        traces.append(_trace(ended, "others", {"width": 1, "color": tokens.edge}, opacity=0.45))
    if running:
        traces.append(_trace(running, "running", {"width": 1.5, "color": tokens.running, "dash": "dash"}))
    for line in leading:
        is_best = line.number == shown.best
        known = tokens.ink if line.place is None else shown.scale.colour(theme, line.place)
        colour = tokens.star if is_best else known
        name = f"trial {line.number}"
        if is_best:
            traces.append(_trace([line], name, {"width": 6, "color": tokens.surface}, showlegend=False))
        elif shown.asked:  # the colour of a bad loss is that of the page
            traces.append(_trace([line], name, {"width": 5, "color": tokens.ink}, showlegend=False))
        traces.append(_trace([line], name, {"width": 2.5, "color": colour}, showlegend=False))
    steps = [step for line in shown.lines for step in line.steps]
    metric = text.name(shown.metric or "value")
    is_log = " (log)" if shown.axis.is_log else ""
    return drawn(
        theme,
        traces,
        kind="curves",
        title="Learning curves",
        caption=_caption(shown),
        table=_table(shown),
        height=300,
        legend=bool(ended or running),
        right=96,
        above=18,
        xaxis=axis(
            theme,
            title=axis_title(theme, "step"),
            nticks=7,
            range=[min(steps), max(steps)] if len(set(steps)) > 1 else None,
        ),
        yaxis=shown.axis.layout(theme, range=_range(shown.axis)),
        annotations=[
            note(theme, metric + is_log, x=0, y=1, xanchor="left", yanchor="bottom", yshift=4, xshift=-40),
            *_labels(shown, leading, theme),
        ],
    )


def _range(values: LossAxis) -> list[float]:
    """Return the range without a shelf: curves leave the figure where they are beyond it."""
    ends = [values.low, values.high]
    return np.log10(ends).tolist() if values.is_log else ends


def _trace(lines: Sequence[Line], name: str, look: Any, **said: Any) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [step for line in lines for step in (*line.steps, None)],
        "y": [value for line in lines for value in (*line.values, None)],
        "text": [told for line in lines for told in _each(line)],
        "hovertemplate": "%{text}: %{y:.4g} at step %{x}<extra></extra>",
        "line": look,
        "connectgaps": False,
        **said,
    }


def _each(line: Line) -> list[str]:
    return [f"trial {line.number}, {line.state}"] * (len(line.steps) + 1)


def _labels(shown: Numbers, leading: Sequence[Line], theme: Theme) -> list[Figure]:
    """Return names at the ends of the leading lines, moved apart."""
    low, high = _range(shown.axis)
    ends = []
    for line in leading:
        last = next(value for value in reversed(line.values) if value is not None)
        scaled = float(np.log10(last)) if shown.axis.is_log else last
        ends.append((min(max((scaled - low) / (high - low), 0.0), 1.0), line, last))
    ends.sort(key=lambda end: end[0])
    heights: list[float] = []
    for wished, _, _ in ends:
        heights.append(max(wished, heights[-1] + APART) if heights else wished)
    labels = []
    for (_, line, last), height in zip(ends, heights, strict=True):
        colour = THEMES[theme].best if line.number == shown.best else THEMES[theme].ink2
        told = f"{line.number} · {text.short(last)}"
        where = {"x": 1, "y": height, "xanchor": "left", "yanchor": "middle", "xshift": 6}
        labels.append(note(theme, told, font={"size": 12, "color": colour}, **where))
    return labels


def _table(shown: Numbers) -> Table:
    """Return how the curves end, that of the best first."""
    rows = [
        (line.number, line.state, line.steps[-1], text.short(line.values[-1]))
        for line in shown.lines[: -ROWS - 1 : -1]
    ]
    return Table(["trial", "state", "last step", text.name(shown.metric or "value")], rows)


def _caption(shown: Numbers) -> str:
    if shown.metric is None:
        return "No trial has reported anything yet."
    told = f"What {text.count(len(shown.lines), 'trial')} reported of {text.name(shown.metric)}"
    if shown.trials > shown.chosen:
        told += (
            f", looking at {shown.chosen} of {shown.trials:,}: the best {BEST_LINES} and others evenly spread"
        )
    if shown.asked:
        leading = shown.lines[len(shown.lines) - shown.leading :]
        outlined = ", ".join(map(str, sorted(line.number for line in leading if line.number != shown.best)))
        told += f". Outlined: {outlined}" if outlined else ""
        told += "" if shown.best is None else f". The best is {shown.best}"
    elif shown.leading:
        told += f". The best {shown.leading} are told by number" if shown.leading > 1 else ""
    return told + "."
