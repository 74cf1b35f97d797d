"""Which dimensions decide how good a trial is, alone and in pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures import text
from thiessen.figures.forest import TREES, Analysis, analysed
from thiessen.figures.theme import MONO, THEMES, Figure, Table, Theme, axis, axis_title, drawn
from thiessen.figures.trials import Trials

FEWEST: Final = 20  # trials: with fewer nothing is said
MOST: Final = 1000  # trials that the forest sees
LEVELS: Final = 32  # of a dimension, and one more where it may be inactive
PAIRED: Final = 6  # dimensions
BARS: Final = 12
WIDE: Final = 22  # letters of a label
BAND: Final = (0.1, 0.9)  # of the trees
POOR: Final = 0.1  # explained, below which importances are not to be trusted


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one dimension, or two together beyond what each does alone, explain."""

    names: Sequence[str]
    share: float  # the mean of the trees
    low: float  # what a tenth of the trees are below
    high: float  # what a tenth of the trees are above


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What the figure shows, the largest first."""

    trials: int  # that say something
    used: int  # seen by the forest, evenly spread over the search
    shares: Sequence[Share]  # of single dimensions and pairs; none when there are too few trials
    rest: float  # of all that is not listed
    explained: float  # of the variance of ranks of trials that trees had not seen


def numbers(trials: Trials) -> Numbers:
    """Return the numbers of the figure."""
    (places,) = trials.teaches.nonzero()
    used = places
    if len(places) > MOST:
        used = places[np.linspace(0, len(places) - 1, MOST).astype(np.intp)]
    if len(places) < FEWEST:
        return Numbers(trials=len(places), used=0, shares=[], rest=0.0, explained=0.0)
    levels, ordered, weights = _levels(trials, used)
    found = analysed(levels, _ranks(trials, used), ordered, weights, most_paired=PAIRED)
    shares = sorted(_shares(list(trials.space.dimensions), found), key=lambda each: -each.share)[:BARS]
    listed = sum(each.share for each in shares)
    return Numbers(
        trials=len(places),
        used=len(used),
        shares=shares,
        rest=round(max(1.0 - listed, 0.0), 4) if listed > 0 else 0.0,
        explained=round(found.explained, 4),
    )


def _levels(trials: Trials, used: Array) -> tuple[Array, Array, Array]:
    """Return the levels of the trials, which dimensions have an order, and the weights of the levels.

    Levels of one dimension are equally likely, as in a random search; being inactive as often as it was.
    """
    dimensions = list(trials.space.dimensions.values())
    counts = [_count(each) for each in dimensions]
    units = trials.points[used]
    is_off = np.isnan(units)
    many = max(counts) + 1
    levels = np.empty(units.shape, np.intp)
    weights = np.zeros((len(dimensions), many))
    for at, (dimension, count) in enumerate(zip(dimensions, counts, strict=True)):
        scaled = np.nan_to_num(units[:, at]) * (count if dimension.ordered else 1)
        levels[:, at] = np.where(is_off[:, at], count, np.clip(np.floor(scaled), 0, count - 1))
        off = float(is_off[:, at].mean())
        weights[at, :count] = (1 - off) / count
        weights[at, count] = off
    return levels, np.array([each.ordered for each in dimensions]), weights


def _count(dimension: object) -> int:
    values = dimension.values()  # type: ignore[attr-defined]
    is_ordered = dimension.ordered  # type: ignore[attr-defined]
    if values is None or (is_ordered and len(values) > LEVELS):
        return LEVELS
    return len(values)


def _ranks(trials: Trials, used: Array) -> Array:
    """Return the ranks of the losses from 0 to 1: a huge loss counts no more than the worst."""
    losses = np.where(np.isin(trials.states[used], ["succeeded", "pruned"]), trials.losses[used], np.inf)
    finite = losses[trials.succeeded[used]]
    if len(finite):
        is_pruned = trials.states[used] == "pruned"
        losses = np.where(is_pruned, np.maximum(losses, np.median(finite)), losses)
    losses = np.where(np.isnan(losses), np.inf, losses)
    _, place, counts = np.unique(losses, return_inverse=True, return_counts=True)
    upto = counts.cumsum()
    return np.asarray((upto - (counts + 1) / 2)[place] / max(len(used) - 1, 1))


def _shares(names: list[str], found: Analysis) -> list[Share]:
    columns = [([name], found.single[:, at]) for at, name in enumerate(names)]
    columns += [([names[i], names[j]], found.both[:, at]) for at, (i, j) in enumerate(found.pairs)]
    return [
        Share(
            names=name,
            share=round(float(column.mean()), 4),
            low=round(float(np.quantile(column, BAND[0])), 4),
            high=round(float(np.quantile(column, BAND[1])), 4),
        )
        for name, column in columns
    ]


def picture(shown: Numbers, theme: Theme) -> Figure:
    """Return the figure."""
    tokens = THEMES[theme]
    shares = shown.shares[::-1]
    labels = [" × ".join(text.name(name, WIDE // len(each.names)) for name in each.names) for each in shares]  # noqa: RUF001
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [each.share for each in shares],
        "y": list(range(len(shares))),
        "width": 0.5,
        "marker": {"color": [tokens.ink2 if len(each.names) == 1 else tokens.ink3 for each in shares]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [round(max(each.high - each.share, 0.0), 4) for each in shares],
            "arrayminus": [round(max(each.share - each.low, 0.0), 4) for each in shares],
            "color": tokens.edge,
            "thickness": 1.5,
            "width": 4,
        },
        "text": [f"{label}: {_percent(each)}" for label, each in zip(labels, shares, strict=True)],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
    }
    most = max([each.high for each in shares], default=0.5)
    long = max(map(len, labels), default=4)
    return drawn(
        theme,
        [bars] if shares else [],
        kind="importance",
        title="Importance",
        caption=_caption(shown),
        table=_table(shown),
        height=max(len(shares) * 26, 60),
        left=24 + round(7.4 * long),
        right=32,
        xaxis=axis(
            theme,
            range=[0, 1.06 * most],
            tickformat=".0%",
            nticks=6,
            showgrid=True,
            title=axis_title(theme, "share of the variance"),
            rangemode="tozero",
        ),
        yaxis=axis(
            theme,
            range=[-0.6, len(shares) - 0.4],
            tickmode="array",
            tickvals=list(range(len(shares))),
            ticktext=labels,
            tickfont={"size": 12, "family": MONO, "color": tokens.ink2},
            showline=False,
            ticks="",
        ),
    )


def _percent(each: Share) -> str:
    return f"{_of_hundred(each.share)} ({_of_hundred(each.low)} to {_of_hundred(each.high)})"


def _of_hundred(share: float) -> str:
    return "< 1 %" if 0 < share < 0.01 else f"{max(share, 0.0):.0%}".replace("%", " %")


def _table(shown: Numbers) -> Table:
    rows = [
        (" × ".join(map(text.name, each.names)), *map(_of_hundred, (each.share, each.low, each.high)))  # noqa: RUF001
        for each in shown.shares
    ]
    return Table(["dimensions", "share", "a tenth of the trees below", "a tenth above"], rows)


def _caption(shown: Numbers) -> str:
    if not shown.shares:
        return f"Importance is told from {FEWEST} finished trials on; there are {shown.trials}."
    told = (
        f"Functional analysis of variance of {TREES} regression trees, of the ranks of {shown.used} trials. "
        f"Whiskers span eight of ten trees. Of trials they had not seen, the trees explain "
        f"{_of_hundred(max(shown.explained, 0.0))}"
    )
    if shown.explained < POOR:
        told += ": too little to trust this figure"
    if shown.rest >= 0.01:
        told += f". More than these, together: {_of_hundred(shown.rest)}"
    return told + "."
