"""Comparisons as tables, and tables as a terminal shows them."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from thiessen.comparison.written import Table
from thiessen.figures.text import short

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from thiessen.contract import Comparison, Profile, ProfileLine

FACTORS: Final = (1, 2, 4, 8)


def shown(table: Table) -> "Shown":
    """Return a table for a terminal: words to the left, numbers to the right."""
    from rich.table import Table as Shown

    made = Shown(title=table.title, caption=table.about or None)
    for place, column in enumerate(table.heading):
        made.add_column(column, justify="right" if has_numbers(table, place) else "left", overflow="fold")
    for row in table.rows:
        made.add_row(*row)
    return made


def has_numbers(table: Table, place: int) -> bool:
    """Return whether no cell of a column is in words."""
    return not any(row[place][:1].isalpha() or row[place][:1] == "{" for row in table.rows)


def planned(name: str, arms: Iterable[Mapping[str, Any]]) -> Table:
    """Return what each arm searches, and what every trial of it trains with."""
    rows = [
        (
            each["arm"],
            each["task"],
            each["strategy"] if isinstance(each["strategy"], str) else json.dumps(each["strategy"]),
            ", ".join(each["searches"]),
            ", ".join(f"{setting} = {value}" for setting, value in each["settings"].items()),
        )
        for each in arms
    ]
    return Table(f"Arms of {name}", "", ("arm", "task", "strategy", "searches", "settings"), rows)


def comparisons(found: "Iterable[Comparison]") -> Table:
    """Return comparisons and how far they are."""
    rows = [
        (
            each.name,
            each.state,
            each.stage,
            ", ".join(arm.label for arm in each.arms),
            f"{each.progress:.0%}",
            f"{each.created_at:%Y-%m-%d %H:%M}",
        )
        for each in found
    ]
    return Table("Comparisons", "", ("comparison", "state", "stage", "arms", "done", "created"), rows)


def standing(found: "Comparison") -> Table:
    """Return how far each arm of a comparison is."""
    rows = []
    for arm in found.arms:
        best = [each.best for each in arm.searches if each.best is not None]
        ended = sum(each.state in {"completed", "stopped"} for each in arm.searches)
        again = arm.confirmation
        rows.append(
            (
                arm.label,
                arm.task,
                arm.strategy,
                f"{ended} of {len(arm.searches)}",
                str(sum(each.finished for each in arm.searches)),
                short(sum(best) / len(best) if best else None),
                short(None) if again is None else f"{again.finished} of {again.expected}",
            )
        )
    told = found.waits_for or f"{found.state}, {found.stage}, {found.progress:.0%}"
    heading = ("arm", "task", "strategy", "searches ended", "trials", "mean best", "runs")
    return Table(f"{found.name}: {told}", "", heading, rows)


def profiles(found: "Profile") -> Table:
    """Return on which share of the workloads each arm is at most so many times slower than the fastest."""
    factors = [factor for factor in FACTORS if factor <= found.largest_factor]
    rows = [
        (line.label, *(f"{_at(line, factor):.0%}" for factor in factors), short(line.area))
        for line in found.lines
    ]
    within = ["fastest", *(f"within {factor} times" for factor in factors[1:])]
    return Table(f"Over {len(found.comparisons)} workloads", "", ("arm", *within, "area"), rows)


def _at(line: "ProfileLine", factor: float) -> float:
    """Return the height of a rising line of steps."""
    steps = zip(line.factor, line.share, strict=True)
    return max((share for start, share in steps if start <= factor), default=0.0)
