"""From losses to colours: one scale for cells, marks, lines and bars."""

import math
from dataclasses import dataclass
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
    """Losses from the best to the 90th percentile. The square root gives detail to the good end."""

    best: float
    worst: float
    sign: float = 1.0  # -1 where the user's number is the loss with the other sign

    @classmethod
    def of(cls, losses: Array, direction: str = "minimize") -> "Scale":
        """Return the scale of the finite ones among these losses."""
        finite = losses[np.isfinite(losses)]
        sign = 1.0 if direction == "minimize" else -1.0
        if not len(finite):
            return cls(0.0, 0.0, sign)
        return cls(float(finite.min()), float(np.quantile(finite, SHARE)), sign)

    def places(self, losses: Array) -> Array:
        """Return for each loss its place between 0, the best, and 1; NaN for NaN."""
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
        values = [self.value(place) for place in LEGEND]
        told = [short(value) for value in values]
        told[-1] = ("≥ " if self.sign > 0 else "≤ ") + told[-1]
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
                    "outlinewidth": 0,
                    "tickvals": [0.0] if is_one else list(LEGEND),
                    "ticktext": told[:1] if is_one else told,
                    "tickfont": {"size": LABEL, "color": THEMES[theme].ink3},
                },
            },
        }

    def value(self, place: float) -> float:
        """Return the user's number at a place of the scale."""
        return self.sign * (self.best + place**2 * (self.worst - self.best))
