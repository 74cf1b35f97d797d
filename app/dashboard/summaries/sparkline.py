"""The best value so far as a small step line: of the first and the best trials, as no more are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import Final

WIDTH: Final = 132  # pixels
HEIGHT: Final = 28
ROOM: Final = 4  # pixels around the line
MOST: Final = 32  # of the first trials, and of the best


@dataclass(frozen=True)
class Sparkline:
    """A line as SVG has it, and the dot at its end."""

    path: str
    x: float
    y: float
    steps: int
    width: int = WIDTH
    height: int = HEIGHT


def sparkline(known: Sequence[tuple[int, float]], trials: int) -> Sparkline | None:
    """Return the line of trials, each a number and a loss; None where there is no step to see."""
    records: list[tuple[int, float]] = []
    for number, loss in sorted(known):
        if not records or loss < records[-1][1]:
            records.append((number, loss))
    if len(known) < 2:
        return None
    best, usual = records[-1][1], median(loss for _, loss in known)
    across, down = WIDTH - 2 * ROOM, HEIGHT - 2 * ROOM

    def x(number: int) -> float:
        return round(ROOM + across * number / max(trials - 1, 1), 1)

    def y(loss: float) -> float:
        above = (loss - best) / (usual - best) if usual > best else 0.0
        return round(ROOM + down * (1 - sqrt(min(max(above, 0.0), 1.0))), 1)

    first, *later = records
    path = f"M{x(first[0])} {y(first[1])}" + "".join(f"H{x(number)}V{y(loss)}" for number, loss in later)
    return Sparkline(f"{path}H{x(trials - 1)}", x(trials - 1), y(best), len(records))
