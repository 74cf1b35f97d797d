"""Figures of a study, each in two steps: numbers, then a picture as plotly's JSON. No package draws here.

A figure is one file with `numbers`, which tests read, and `picture`, which only arranges them.
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, get_args

from thiessen.figures import (
    arms,
    curves,
    distribution,
    ends,
    expected,
    history,
    importance,
    interaction,
    landscape,
    parallel,
    profile,
    sensitivity,
    slice,  # noqa: A004 - the name of the figure
    timeline,
    training,
)
from thiessen.figures.theme import Figure, Theme
from thiessen.figures.trials import Trials
from thiessen.figures.wanted import MOST_CANDIDATES, MOST_TOLD, Colour, FigureError, Others, Wanted

__all__ = [
    "COMPARED",
    "FIGURES",
    "MOST_CANDIDATES",
    "MOST_TOLD",
    "REPORTED",
    "Colour",
    "Figure",
    "FigureError",
    "Others",
    "Theme",
    "Trials",
    "Wanted",
    "check",
    "figure",
    "of_profile",
    "of_report",
    "side_by_side",
]

FIGURES: Final[Mapping[str, Callable[[Trials, Wanted], Figure]]] = MappingProxyType(
    {
        "history": lambda trials, wanted: history.picture(history.numbers(trials), wanted.theme),
        "landscape": lambda trials, wanted: landscape.picture(
            landscape.numbers(trials, wanted), wanted.theme
        ),
        "slice": lambda trials, wanted: slice.picture(slice.numbers(trials), wanted.theme),
        "parallel": lambda trials, wanted: parallel.picture(parallel.numbers(trials), wanted.theme),
        "importance": lambda trials, wanted: importance.picture(importance.numbers(trials), wanted.theme),
        "curves": lambda trials, wanted: curves.picture(curves.numbers(trials, wanted), wanted.theme),
        "timeline": lambda trials, wanted: timeline.picture(timeline.numbers(trials), wanted.theme),
        "distribution": lambda trials, wanted: distribution.picture(
            distribution.numbers(trials), wanted.theme
        ),
        "interaction": lambda trials, wanted: side_by_side({trials.study: trials}, wanted),
    }
)


def figure(name: str, trials: Trials, wanted: Wanted) -> Figure:
    """Return a figure of a study as plotly's JSON. Raises FigureError."""
    check(name, wanted)
    found = FIGURES[name](trials.seen(after=wanted.after, by_rank=wanted.colour == "rank"), wanted)
    found["layout"]["meta"]["finished"] = len(trials.whole or trials)
    return found


def side_by_side(searches: Mapping[str, Trials], wanted: Wanted) -> Figure:
    """Return several searches of one space in panels, on one scale of colours. Raises FigureError."""
    return interaction.picture(interaction.numbers(searches, wanted), wanted.theme)


COMPARED: Final[Mapping[str, Callable[[Mapping[str, Trials], Wanted], Figure]]] = MappingProxyType(
    {
        "arms": lambda searches, wanted: arms.picture(arms.numbers(searches), wanted.theme),
        "interaction": side_by_side,
    }
)
"""Figures of several studies."""

REPORTED: Final[Mapping[str, Callable[[Mapping[str, Any], Theme], Figure]]] = MappingProxyType(
    {
        "expected": lambda report, theme: expected.picture(expected.numbers(report), theme),
        "ends": lambda report, theme: ends.picture(ends.numbers(report), theme),
        "training": lambda report, theme: training.picture(training.numbers(report), theme),
        "sensitivity": lambda report, theme: sensitivity.picture(sensitivity.numbers(report), theme),
    }
)
"""Figures of a comparison, drawn from its report."""


def of_report(name: str, report: Mapping[str, Any], theme: Theme) -> Figure:
    """Return a figure of a comparison, whose report is given as its JSON. Raises FigureError."""
    if name not in REPORTED:
        raise FigureError(f"{name!r} is no figure of a comparison; there are {', '.join(REPORTED)}.")
    if theme not in get_args(Theme):
        raise FigureError(f"theme: {theme!r} is none of {', '.join(get_args(Theme))}.")
    return REPORTED[name](report, theme)


def of_profile(found: Mapping[str, Any], theme: Theme) -> Figure:
    """Return the figure of performance profiles over several comparisons."""
    return profile.picture(profile.numbers(found), theme)


def check(name: str, wanted: Wanted) -> None:
    """Raise FigureError where there is no such figure, or no such choice."""
    if name not in FIGURES:
        near = get_close_matches(name, FIGURES, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise FigureError(f"{name!r} is no figure; there are {', '.join(FIGURES)}.{meant}")
    for what, said, choices in (
        ("theme", wanted.theme, Theme),
        ("others", wanted.others, Others),
        ("colour", wanted.colour, Colour),
    ):
        if said not in get_args(choices):
            raise FigureError(f"{what}: {said!r} is none of {', '.join(get_args(choices))}.")
    if len(wanted.trials) > MOST_TOLD:
        raise FigureError(f"trials: the curves of {MOST_TOLD} may stand out; got {len(wanted.trials)}.")
    if not 0 <= wanted.candidates <= MOST_CANDIDATES:
        raise FigureError(
            f"candidates: of 0 to {MOST_CANDIDATES} proposals they are drawn; got {wanted.candidates}."
        )
    if wanted.after is not None and wanted.after < 0:
        raise FigureError(f"after: it counts finished trials and is at least 0; got {wanted.after}.")
