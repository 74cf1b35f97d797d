"""What a figure shows, as a table: for those who do not see it, and for those who want the numbers."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from thiessen.columns import values_of
from thiessen.elementwise import Array
from thiessen.figures import marks, text
from thiessen.figures.theme import Table
from thiessen.figures.trials import Trials
from thiessen.space import Scalar

ROWS: Final = 50  # of a figure, at most


def of_trials(trials: Trials, names: Sequence[str]) -> Table:
    """Return the best trials, then others as they finished, with their values in these dimensions."""
    places = marks.best(np.where(trials.succeeded, trials.losses, np.nan), ROWS)
    codes = [trials.codes[trials.place(name), places] for name in names]
    config = [_said(trials, name, each) for name, each in zip(names, codes, strict=True)]
    values = [text.short(value) for value in trials.values(trials.losses[places]).tolist()]
    numbers, states = trials.numbers[places].tolist(), trials.states[places].tolist()
    return Table(
        ["trial", "state", "value", *map(text.name, names)],
        list(zip(numbers, states, values, *config, strict=True)),
    )


def _said(trials: Trials, name: str, codes: Array) -> list[str]:
    return [said(value) for value in values_of(trials.space.dimensions[name], codes)]


def said(value: Scalar | None) -> str:
    """Return a value of a dimension in words."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "inactive"
    if isinstance(value, bool | str):
        return text.name(value)
    return text.short(value)
