"""What a measurement says: a table, the bars it is held to, and what one should know about it."""

import datetime as dt
import json
import math
import os
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from benchmarks.bench import setting

HERE = Path(__file__).parent
LOG = HERE / "log.jsonl"
VERSIONS = ("fastapi", "uvicorn", "sqlalchemy", "psycopg", "pydantic", "numpy")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What a number is held to."""

    what: str
    found: float
    bar: float
    above: bool  # the bar is passed from above

    @property
    def verdict(self) -> str:
        """Whether it holds."""
        if math.isnan(self.found):
            return "not measured"
        return "met" if (self.found >= self.bar if self.above else self.found <= self.bar) else "MISSED"

    def cells(self) -> tuple[str, ...]:
        """Return a row of a table."""
        side = "at least" if self.above else "at most"
        return self.what, number(self.found), f"{side} {self.bar:g}", self.verdict


def at_least(bar: float, found: float, what: str) -> Bar:
    """Hold a number to a bar that it should reach."""
    return Bar(what=what, found=found, bar=bar, above=True)


def at_most(bar: float, found: float, what: str) -> Bar:
    """Hold a number to a bar that it should stay below."""
    return Bar(what=what, found=found, bar=bar, above=False)


@dataclass(kw_only=True)
class Figure:
    """One table with its bars and notes."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Return it as text for a terminal."""
        yield f"\n{self.name}: {self.title}"
        yield from self.notes
        yield from columns([self.head, *self.rows])
        if self.bars:
            yield ""
            yield from columns([bar.cells() for bar in self.bars])


def columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Return rows with their cells below each other, the first to the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells)).rstrip()


def number(value: float) -> str:
    """Return a number with the digits that mean something."""
    if math.isnan(value):
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def keep(figure: Figure) -> None:
    """Append a figure to the log."""
    entry = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": setting(),
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in VERSIONS},
        **asdict(figure),
        "bars": [bar.cells() for bar in figure.bars],
    }
    with LOG.open("a") as log:
        log.write(json.dumps(entry) + "\n")


def commit() -> str:
    """Return the commit that was measured, and whether the tree differed from it."""
    command = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty= and changes"]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
