"""What an experiment is, and what comes of it: numbers first, pages and pictures are made of them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Size = Literal["small", "full"]
Cell = str | float | int | None
SIZES: Final[tuple[Size, ...]] = ("small", "full")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something that the original says, and whether it is seen here too."""

    says: str
    holds: bool
    told: str  # the numbers that decide


@dataclass(frozen=True, kw_only=True)
class Table:
    """Numbers to be read. The first column names the rows."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a figure, with its band where it has one, or points alone."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    points: bool = False
    colours: Sequence[float | None] = ()  # of points: where each is on the picture's scale; None off it


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes: lines, the contours of a surface, or a picture of numbers."""

    title: str = ""
    x: str = ""
    y: str = ""
    log_x: bool = False
    log_y: bool = False
    lines: Sequence[Line] = ()
    surface: Sequence[Sequence[float]] = ()  # a row for each y
    surface_x: Sequence[float] = ()
    surface_y: Sequence[float] = ()
    is_filled: bool = False  # whether the surface is a picture of its numbers, in place of contours


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of one panel or several, side by side."""

    name: str  # of its file
    says: str  # what is to be seen, in a sentence
    panels: Sequence[Panel]
    columns: int = 2
    scale: Sequence[
        float
    ] = ()  # the ends of one scale of colours of all its panels, whose axes are alike too
    scaled: str = ""  # what its colours say


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a run."""

    claims: Sequence[Claim]
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    seeds: str = "0"
    remarks: Sequence[str] = ()  # what is to be said of these numbers, a paragraph each


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment of the originals."""

    name: str  # of its page and of the command
    title: str
    rows: Sequence[int]  # of the capabilities
    source: str  # where it was published
    asks: str  # the question, in a few sentences
    reported: str  # what the original says, with its numbers, as Markdown
    here: Mapping[Size, str]  # what is run at each size, and how it differs from the original
    run: Callable[[Size], Result]
    files: Sequence[str] = field(default_factory=tuple)  # comparison files that it runs, beside the code


def as_json(result: Result) -> dict[str, Any]:
    """Return a result as JSON can say it: numbers keep twelve digits, those that are not finite are null."""
    plain: dict[str, Any] = _plain(result)
    return plain


def from_json(document: Mapping[str, Any]) -> Result:
    """Return what was written as JSON."""
    return Result(
        claims=[Claim(**each) for each in document["claims"]],
        tables=[Table(**each) for each in document["tables"]],
        pictures=[
            Picture(
                **{
                    **each,
                    "panels": [
                        Panel(**{**panel, "lines": [Line(**line) for line in panel["lines"]]})
                        for panel in each["panels"]
                    ],
                }
            )
            for each in document["pictures"]
        ],
        seeds=document["seeds"],
        remarks=document["remarks"],
    )


def _plain(value: Any) -> Any:
    match value:
        case bool() | str() | int() | None:
            return value
        case float():
            return float(f"{value:.12g}") if math.isfinite(value) else None
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case Sequence():
            return [_plain(each) for each in value]
        case _ if hasattr(value, "__dataclass_fields__"):
            return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
        case _:
            return _plain(value.item())  # a number of numpy or torch
