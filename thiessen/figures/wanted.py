"""What a person may choose of a figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from thiessen.figures.theme import Theme
from thiessen.space import Space

MOST_CANDIDATES: Final = 32  # proposals whose candidates are drawn
MOST_TOLD: Final = 20  # trials whose curves stand out

Others = Literal["best", "ignored"]
Colour = Literal["loss", "rank"]


class FigureError(ValueError):
    """A figure that cannot be drawn; the message says what to change."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The choices, each with its usual one."""

    x: str | None = None  # dimensions; the first ones that are not chosen
    y: str | None = None
    others: Others = "best"  # where the other dimensions stand: at the best config, or anywhere
    candidates: int = 1  # of how many of the latest proposals they are drawn
    after: int | None = None  # as the study was when so many trials had finished; None as it is
    colour: Colour = "loss"  # what colours go by
    metric: str | None = None  # of learning curves; what trials are judged by, or else the first reported
    trials: Sequence[int] = ()  # whose learning curves stand out, beside the best
    theme: Theme = "light"


def dimensions(space: Space) -> list[str]:
    """Return the names of the dimensions. Raises FigureError while an open space has none."""
    if not space.dimensions:
        raise FigureError("no trial has asked for a dimension yet; this figure is of dimensions.")
    return list(space.dimensions)


def two(space: Space, wanted: Wanted) -> tuple[str, str]:
    """Return two different dimensions. Raises FigureError."""
    names = dimensions(space)
    if len(names) < 2:
        raise FigureError(
            f"this figure has two dimensions, and the space only {names[0]!r}. Ask for slice instead."
        )
    for axis, name in (("x", wanted.x), ("y", wanted.y)):
        if name is not None and name not in names:
            raise FigureError(f"{axis}: {name!r} is no dimension of the space; it has {_some(names)}.")
    if wanted.x is not None and wanted.x == wanted.y:
        raise FigureError(f"x and y are both {wanted.x!r}; give two different dimensions.")
    x = wanted.x if wanted.x is not None else next(name for name in names if name != wanted.y)
    y = wanted.y if wanted.y is not None else next(name for name in names if name != x)
    return x, y


def _some(names: Sequence[str], most: int = 10) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
