"""Tables for a terminal."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from thiessen.contract import BestConfig, TaskAnswer


def terminal() -> Console:
    """Return where to print: as wide as the terminal, or wide enough for anything in a file or a pipe."""
    return Console() if sys.stdout.isatty() else Console(width=1000)


def ranking(best: Sequence[BestConfig]) -> Table:
    """Return the best configs as a table, one column for each dimension.

    Where the value is not the loss itself, it has a column beside it.
    """
    has_value = any(found.value != found.loss for found in best)
    dimensions = list(dict.fromkeys(name for found in best for name in found.config))
    table = Table(title=f"Best configs of {best[0].study}" if best else "Best configs")
    table.add_column("rank", justify="right", overflow="fold")
    table.add_column("loss", justify="right", style="bold", overflow="fold")
    if has_value:
        table.add_column("value", justify="right", style="bold", overflow="fold")
    table.add_column("trial", justify="right", overflow="fold")
    for name in dimensions:
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("seed", justify="right", style="dim", overflow="fold")
    for found in best:
        cells = [_cell(found.config.get(name, "")) for name in dimensions]
        numbers = [f"{found.loss:.6f}", *([f"{found.value:.6f}"] if has_value else [])]
        table.add_row(str(found.rank), *numbers, str(found.trial), *cells, str(found.seed))
    return table


def offered(tasks: Sequence[TaskAnswer]) -> Table:
    """Return what workers can train as a table."""
    table = Table(title="Tasks")
    for name in ("task", "versions", "workers", "spaces", "what it does"):
        table.add_column(name, justify="right" if name == "workers" else "left", overflow="fold")
    for each in tasks:
        versions, spaces = ", ".join(each.versions), ", ".join(each.spaces)
        table.add_row(each.name, versions, str(each.workers), spaces, each.description)
    return table


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
