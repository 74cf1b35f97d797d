"""From losses to colours: one scale for cells, marks, lines and bars."""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.figures.text import short
from thiessen.figures.theme import LABEL, THEMES, Theme, colours

SHARE: Final = 0.9  # of the losses have a colour of their own; what is worse has the worst
LEGEND: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
BELOW: Final = 56  # pixels from the axis down to the legend
ROOM: Final = 96  # pixels that it needs below the axis, with its title and all


@dataclass(frozen=True)
class Scale:
    """Losses from the best to the 90th percentile, finer at the good end; or ranks."""

    best: float
    worst: float
    sign: float = 1.0  # -1 where the user's number is the loss with the other sign
    ranked: Array | None = field(default=None, compare=False)  # all, in order, where colours go by ranks

    @classmethod
    def of(cls, losses: Array, direction: str = "minimize", *, by_rank: bool = False) -> "Scale":
        """Return the scale of the finite ones among these losses."""
        finite = losses[np.isfinite(losses)]
        sign = 1.0 if direction == "minimize" else -1.0
        if not len(finite):
            return cls(0.0, 0.0, sign)
        if by_rank:
            return cls(float(finite.min()), float(finite.max()), sign, np.sort(finite))
        return cls(float(finite.min()), float(np.quantile(finite, SHARE)), sign)

    def places(self, losses: Array) -> Array:
        """Return for each loss its place between 0, the best, and 1; NaN for NaN."""
        if self.ranked is not None and self.worst > self.best:
            last = len(self.ranked) - 1
            below, upto = (self.ranked.searchsorted(losses, side=side) for side in ("left", "right"))
            return np.where(np.isnan(losses), np.nan, np.clip((below + upto - 1) / (2 * last), 0.0, 1.0))
        width = self.worst - self.best
        if not 0.0 < width < math.inf:
            return np.where(np.isnan(losses), np.nan, np.where(losses > self.best, 1.0, 0.0))
        with np.errstate(over="ignore"):
            return np.sqrt(np.clip((losses - self.best) / width, 0.0, 1.0))

    def colour(self, theme: Theme, place: float) -> str:
        """Return the colour of a place."""
        scale = THEMES[theme].losses
        return scale[round(place * (len(scale) - 1))]

    def legend(self, theme: Theme, height: int) -> dict[str, Any]:
        """Return a trace that shows nothing but which colour is which value, below a figure so high."""
        told = [self.told(place) for place in LEGEND]
        is_one = self.worst <= self.best
        return {
            "type": "scatter",
            "mode": "markers",
            "name": "value",
            "x": [None],
            "y": [None],
            "hoverinfo": "skip",
            "showlegend": False,
            "marker": {
                "color": [0.0],
                "size": 0.1,
                "cmin": 0,
                "cmax": 1,
                "colorscale": colours(theme),
                "showscale": True,
                "colorbar": {
                    "orientation": "h",
                    "thickness": 10,
                    "len": 1.0,
                    "x": 0.5,
                    "y": -BELOW / height,
                    "yanchor": "top",
                    "ypad": 0,
                    "xpad": 0,
                    "ticklabeloverflow": "allow",
                    "tickangle": 0,
                    "outlinewidth": 0,
                    "tickvals": [0.0] if is_one else list(LEGEND),
                    "ticktext": told[:1] if is_one else told,
                    "tickfont": {"size": LABEL, "color": THEMES[theme].ink3},
                },
            },
        }

    def value(self, place: float) -> float:
        """Return the user's number at a place of the scale."""
        if self.ranked is not None:
            return self.sign * float(np.quantile(self.ranked, place))
        return self.sign * (self.best + place**2 * (self.worst - self.best))

    def told(self, place: float) -> str:
        """Return what stands at a place of the scale."""
        value = short(self.value(place))
        if place < 1.0 or self.ranked is not None:
            return value
        return ("≥ " if self.sign > 0 else "≤ ") + value
