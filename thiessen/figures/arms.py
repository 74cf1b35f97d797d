"""The best value so far of several searches, a line each.

Colours belong to losses, so each line is told by its dashes and the name at its end as well.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from thiessen.figures import marks, text
from thiessen.figures.axes import LossAxis
from thiessen.figures.history import best_so_far
from thiessen.figures.theme import THEMES, Figure, Table, Theme, Tokens, axis, axis_title, drawn, note
from thiessen.figures.trials import Trials
from thiessen.figures.wanted import FigureError

MOST_ARMS: Final = 6
BLUE: Final = 6  # its place on the scale of losses, in both themes
HEIGHT: Final = 320
APART: Final = 18 / HEIGHT  # of two names, in heights of the figure
ROOM: Final = 160  # pixels beside the lines, for their names
LONGEST: Final = 13  # characters of one of these
DASHES: Final = ("dot", "dash", "solid", "longdash", "dashdot", "longdashdot")


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
    tokens = THEMES[theme]
    looks = _looks(tokens, len(shown.arms))
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
        height=HEIGHT,
        right=ROOM,
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


def _looks(tokens: Tokens, many: int) -> list[dict[str, Any]]:
    """Return how the lines look: the last of two or three is the blue one."""
    colours = [tokens.ink3, tokens.pruned, tokens.losses[BLUE]]
    looks = [{"dash": dash, "color": colours[at % 3]} for at, dash in enumerate(DASHES)]
    return [looks[0], looks[2]] if many == 2 else looks[:many]


def _names(shown: Numbers, theme: Theme, looks: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return a name for each line at its end, none over another."""
    ends = [(_height(shown.axis, arm.at[-1]), at) for at, arm in enumerate(shown.arms) if arm.number]
    places = _apart(sorted(ends))
    return [
        note(
            theme,
            f"{text.name(arm.name, LONGEST)} {text.short(arm.value[-1])}",
            x=1,
            y=place,
            xanchor="left",
            xshift=6,
            yanchor="middle",
            font={"size": 12, "color": looks[at]["color"]},
        )
        for place, at in places
        for arm in [shown.arms[at]]
    ]


def _height(loss_axis: LossAxis, value: float | None) -> float:
    """Return how high a value stands, from 0 to 1."""
    low, high = loss_axis.range
    there = 0.0 if value is None else math.log10(value) if loss_axis.is_log else value
    return min(max((there - low) / (high - low), 0.0), 1.0)


def _apart(ends: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return them with room between any two, moved up from the lowest on, and down again from the top."""
    places = [place for place, _ in ends]
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + APART)
    if places and places[-1] > 1 - APART:
        places[-1] = 1 - APART
        for upper, lower in pairwise(range(len(places) - 1, -1, -1)):
            places[lower] = min(places[lower], places[upper] - APART)
    return [(place, at) for place, (_, at) in zip(places, ends, strict=True)]


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
