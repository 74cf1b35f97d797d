"""The best value so far of several searches, a line each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from thiessen.figures import marks, sides, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.history import best_so_far
from thiessen.figures.theme import Figure, Table, Theme, axis, axis_title, drawn, note
from thiessen.figures.trials import Trials
from thiessen.figures.wanted import FigureError

MOST_ARMS: Final = sides.TOGETHER


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One search: the trials that were better than all before, by number, and where they are drawn."""

    name: str
    trials: int  # finished
    number: Sequence[int]
    value: Sequence[float]
    at: Sequence[float | None]
    last_number: int


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows."""

    direction: str
    arms: Sequence[Arm]
    axis: LossAxis
    last_number: int
    beyond: int


def numbers(searches: Mapping[str, Trials]) -> Numbers:
    """Return the numbers of the figure. Raises FigureError where the directions are not alike."""
    if not 1 <= len(searches) <= MOST_ARMS:
        raise FigureError(f"side by side stand 1 to {MOST_ARMS} studies; got {len(searches)}.")
    (name, first), *others = searches.items()
    for other, each in others:
        if each.direction != first.direction:
            raise FigureError(
                f"{name} is to {first.direction} and {other} to {each.direction}: their values cannot share "
                "an axis. Compare studies of the same direction."
            )
    bests = {name: best_so_far(trials) for name, trials in searches.items()}
    values = np.array([value for _, found in bests.values() for value in found], dtype=float)
    loss_axis = LossAxis.of(values, first.direction)
    arms = [_arm(name, trials, bests[name], loss_axis) for name, trials in searches.items()]
    return Numbers(
        direction=first.direction,
        arms=arms,
        axis=loss_axis,
        last_number=max(arm.last_number for arm in arms),
        beyond=loss_axis.beyond(values),
    )


def _arm(name: str, trials: Trials, best: tuple[list[int], list[float]], loss_axis: LossAxis) -> Arm:
    number, value = best
    return Arm(
        name=name,
        trials=len(trials),
        number=number,
        value=value,
        at=marks.plain(loss_axis.at(np.array(value, dtype=float))),
        last_number=int(trials.numbers.max(initial=-1)),
    )


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    looks = sides.looks(theme, len(shown.arms))
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": text.name(arm.name),
            "x": [*arm.number, arm.last_number],
            "y": [*arm.at, arm.at[-1]],
            "line": {"shape": "hv", "width": 2.5, **look},
            "hovertemplate": f"{text.name(arm.name)}: best %{{y:.4g}} from trial %{{x}} on<extra></extra>",
        }
        for arm, look in zip(shown.arms, looks, strict=True)
        if arm.number
    ]
    is_log = " (log)" if shown.axis.is_log else ""
    above = note(theme, f"best value so far{is_log}", x=0, y=1, xanchor="left", yanchor="bottom", yshift=4)
    return drawn(
        theme,
        traces,
        kind="arms",
        title="Best so far",
        caption=_caption(shown),
        table=_table(shown),
        height=sides.HEIGHT,
        right=sides.ROOM,
        above=18,
        xaxis=axis(
            theme,
            range=[-0.02 * (shown.last_number + 1) - 0.5, 1.02 * shown.last_number + 0.5],
            title=axis_title(theme, "trial"),
            nticks=9,
            tickformat=",d",
        ),
        yaxis=shown.axis.layout(theme),
        annotations=[above, *_names(shown, theme, looks)],
    )


def _names(shown: Numbers, theme: Theme, looks: Sequence[sides.Look]) -> list[Figure]:
    """Return a name for each line at its end, none over another."""
    ends = [
        (f"{text.name(arm.name, sides.LONGEST)} {text.short(arm.value[-1])}", arm.at[-1] or 0.0, look)
        for arm, look in zip(shown.arms, looks, strict=True)
        if arm.number
    ]
    return sides.names(theme, ends, span=shown.axis.range, is_log=shown.axis.is_log)


def _table(shown: Numbers) -> Table:
    rows = [
        (
            text.name(arm.name),
            arm.trials,
            text.short(arm.value[-1] if arm.value else None),
            arm.number[-1] if arm.number else "",
        )
        for arm in shown.arms
    ]
    return Table(["study", "finished", "best", "trial"], rows)


def _caption(shown: Numbers) -> str:
    if not any(arm.trials for arm in shown.arms):
        return "No trial has finished yet."
    told = "; ".join(
        f"{text.name(arm.name)} {text.short(arm.value[-1])} after {text.count(arm.trials, 'trial')}"
        if arm.number
        else f"{text.name(arm.name)} has no success"
        for arm in shown.arms
    )
    if shown.beyond:
        told += f". {text.count(shown.beyond, 'value')} beyond the axis, on its bad end"
    return told + "."
