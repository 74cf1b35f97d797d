"""Tables for a terminal."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.measure import Measurement
from rich.table import Table

from thiessen.console import Terminal
from thiessen.contract import BestConfig, Study, TaskAnswer

WIDEST: Final = 1000


def terminal() -> Terminal:
    """Return where to print: as wide as the terminal, or wide enough for anything in a file or a pipe."""
    return Terminal() if sys.stdout.isatty() else Terminal(width=WIDEST)


def ranking(best: Sequence[BestConfig], study: str | None) -> Table:
    """Return the best configs as a table, one column for each dimension; of all studies without a name.

    Where the value is not the loss itself, it has a column beside it. Seeds are left out where a terminal has
    no room for them: broken into lines nobody could read them, nor the rest.
    """
    console, whole = terminal(), _ranking(best, study, has_seed=True)
    needed = Measurement.get(console, console.options.update(width=WIDEST), whole).maximum
    return whole if needed <= console.width else _ranking(best, study, has_seed=False)


def _ranking(best: Sequence[BestConfig], study: str | None, *, has_seed: bool) -> Table:
    has_value = any(found.value != found.loss for found in best)
    dimensions = list(dict.fromkeys(name for found in best for name in found.config))
    table = Table(title=f"Best configs of {study}" if study else "The best config of each study")
    if study is None:
        table.add_column("study", overflow="fold")
    table.add_column("rank", justify="right", overflow="fold")
    table.add_column("loss", justify="right", style="bold", overflow="fold")
    if has_value:
        table.add_column("value", justify="right", style="bold", overflow="fold")
    table.add_column("trial", justify="right", overflow="fold")
    for name in dimensions:
        table.add_column(name, justify="right", overflow="fold")
    if has_seed:
        table.add_column("seed", justify="right", style="dim", overflow="fold")
    for found in best:
        cells = [_cell(found.config.get(name, "")) for name in dimensions]
        numbers = [f"{found.loss:.6g}", *([f"{found.value:.6g}"] if has_value else [])]
        named = [found.study] if study is None else []
        seed = [str(found.seed)] if has_seed else []
        table.add_row(*named, str(found.rank), *numbers, str(found.trial), *cells, *seed)
    return table


def studies(found: Sequence[Study]) -> Table:
    """Return studies as a table."""
    table = Table(title="Studies")
    for name in ("study", "state", "task", "finished", "of", "running", "best loss", "created"):
        table.add_column(
            name, justify="left" if name in {"study", "state", "task"} else "right", overflow="fold"
        )
    for each in found:
        table.add_row(
            each.name,
            f"{each.state} ({each.reason})" if each.reason else each.state,
            each.task,
            str(each.counts.finished),
            str(each.expected),
            str(each.counts.running),
            f"{each.best.loss:.6g}" if each.best else "",
            f"{each.created_at:%Y-%m-%d %H:%M}",
        )
    return table


def comparison(known: Sequence[Mapping[str, Any]]) -> Table:
    """Return what is known of several studies as a table."""
    table = Table(title="Studies side by side")
    for name in ("study", "strategy"):
        table.add_column(name, overflow="fold")
    endings = ("succeeded", "diverged", "pruned", "failed", "cancelled")
    for name in ("finished", "of", *endings, "GPU hours", "best", "median"):
        table.add_column(name, justify="right", overflow="fold")
    for each in known:
        numbers = (each["gpu_hours"], each["best"], each["median"])
        table.add_row(
            each["study"],
            each["strategy"],
            str(each["finished"]),
            str(each["expected"]),
            *(str(each[ending]) for ending in endings),
            *("" if number is None else f"{number:.6g}" for number in numbers),
        )
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
