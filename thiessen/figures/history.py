"""The value of each trial over its number, and the best so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.scale import Scale
from thiessen.figures.table import of_trials
from thiessen.figures.theme import THEMES, Figure, Table, Theme, axis, axis_title, drawn, note
from thiessen.figures.trials import Trials

UNFINISHED: Final = ("running", "queued")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows. Lists side by side are of the same trials, in the order they finished in."""

    trials: int  # finished, whether drawn or not
    direction: str
    number: Sequence[int]
    state: Sequence[str]
    value: Sequence[float | None]
    at: Sequence[float | None]  # where it is drawn: on the shelf where it has no place of its own
    place: Sequence[float | None]  # on the scale of losses
    best_number: Sequence[int]  # trials that were the best of those up to their number, ascending
    best_value: Sequence[float]
    last_number: int
    unfinished: Sequence[tuple[int, str]]  # number and state
    beyond: int  # values that have no place of their own on the axis
    axis: LossAxis
    scale: Scale
    density: Sequence[Sequence[float]] | None  # of the trials that are no marks: a row for each step up
    density_x: Sequence[float]  # the edges of its columns
    density_y: Sequence[float]  # and of its rows
    table: Table


def numbers(trials: Trials) -> Numbers:
    """Return the numbers of the figure."""
    values = trials.values(trials.losses)
    loss_axis = trials.loss_axis
    scale = trials.scale
    drawn_at = loss_axis.at(values)
    shown, others = marks.some(np.where(trials.succeeded, trials.losses, np.nan))
    best_number, best_value = best_so_far(trials)
    unfinished = [(each.number, each.state) for each in trials.unfinished]
    last = trials.last_number
    counts, across, up = _density(trials, drawn_at, others, loss_axis, last)
    return Numbers(
        trials=len(trials),
        direction=trials.direction,
        number=trials.numbers[shown].tolist(),
        state=trials.states[shown].tolist(),
        value=marks.plain(values[shown]),
        at=marks.plain(drawn_at[shown]),
        place=marks.plain(np.round(scale.places(trials.losses[shown]), 3)),
        best_number=best_number,
        best_value=best_value,
        last_number=last,
        unfinished=unfinished,
        beyond=loss_axis.beyond(values),
        axis=loss_axis,
        scale=scale,
        density=counts,
        density_x=across,
        density_y=up,
        table=of_trials(trials, ()),
    )


def best_so_far(trials: Trials) -> tuple[list[int], list[float]]:
    """Return the trials by number that were better than all before them."""
    (places,) = trials.succeeded.nonzero()
    places = places[np.argsort(trials.numbers[places], kind="stable")]
    losses = trials.losses[places]
    before = np.minimum.accumulate(np.concatenate([[np.inf], losses]))[:-1]
    better = places[losses < before]
    return trials.numbers[better].tolist(), trials.values(trials.losses[better]).tolist()


def _density(
    trials: Trials, drawn_at: Array, others: Array, loss_axis: LossAxis, last: int
) -> tuple[list[list[float]] | None, list[float], list[float]]:
    if not len(others):
        return None, [], []
    across, up = marks.BINS
    rows, edges = loss_axis.fields(drawn_at[others], up)
    counts = marks.totals(marks.binned(trials.numbers[others], 0, last, across), rows, across, up)
    return counts.tolist(), np.linspace(0, last, across + 1).tolist(), edges


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    traces = []
    if shown.density is not None:
        traces.append(marks.density(theme, shown.density, x=shown.density_x, y=shown.density_y))
    for state in marks.STATES:
        traces += _marks_of(shown, theme, state)
    if shown.best_number:
        best = shown.best_value[-1]
        line = {
            "type": "scatter",
            "mode": "lines",
            "name": "best so far",
            "x": [*shown.best_number, shown.last_number],
            "y": [*shown.best_value, best],
            "line": {"shape": "hv", "width": 2, "color": tokens.ink},
            "hovertemplate": "best %{y:.4g} from trial %{x} on<extra></extra>",
        }
        told = f"trial {shown.best_number[-1]}: {text.short(best)}"
        traces += [line, marks.star(theme, shown.best_number[-1], best, told)]
    is_log = " (log)" if shown.axis.is_log else ""
    above = note(theme, f"value{is_log}", x=0, y=1, xanchor="right", yanchor="bottom", yshift=4, xshift=24)
    return drawn(
        theme,
        traces,
        kind="history",
        title="History",
        caption=_caption(shown),
        table=shown.table,
        height=300,
        legend=len(traces) > 1,
        right=28,
        above=18,
        xaxis=axis(
            theme,
            range=[-0.02 * (shown.last_number + 1) - 0.5, 1.02 * shown.last_number + 0.5],
            title=axis_title(theme, "trial"),
            nticks=9,
            tickformat=",d",
        ),
        yaxis=shown.axis.layout(theme),
        annotations=[above],
    )


def _marks_of(shown: Numbers, theme: Theme, state: str) -> list[Figure]:
    """Return the trace of the trials in a state, if there are any."""
    if state in UNFINISHED:
        there = [number for number, its in shown.unfinished if its == state]
        if not there:
            return []
        told = [f"trial {number}" for number in there]
        y = [shown.axis.shelf] * len(there)
        return [marks.trace(state, marks.shape(theme, state), x=there, y=y, text=told)]
    at = [place for place, its in enumerate(shown.state) if its == state]
    if not at:
        return []
    has_loss = state in {"succeeded", "pruned"}
    places = [1.0 if shown.place[each] is None else shown.place[each] for each in at]
    look = marks.coloured(theme, state, places) if has_loss else marks.shape(theme, state)
    return [
        marks.trace(
            state,
            look,
            x=[shown.number[each] for each in at],
            y=[shown.at[each] for each in at],
            text=[f"trial {shown.number[each]}: {text.short(shown.value[each])}" for each in at],
        )
    ]


def _caption(shown: Numbers) -> str:
    """Return in words what is shown."""
    if not shown.trials:
        return "No trial has finished yet."
    told = text.count(shown.trials, "finished trial")
    if shown.best_number:
        told += f"; the best is trial {shown.best_number[-1]} with {text.short(shown.best_value[-1])}"
    else:
        told += "; none has succeeded"
    if shown.density is not None:
        told += f". Marks are the best {marks.KEPT} and the latest {marks.KEPT}, the others a density"
    if shown.beyond:
        told += f". {text.count(shown.beyond, 'value')} beyond the axis, on its bad end"
    return told + "."
