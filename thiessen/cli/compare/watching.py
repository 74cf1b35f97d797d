"""How far a comparison is, as a bar, until it has ended."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from thiessen.terminal import harmless

if TYPE_CHECKING:
    from thiessen.console import Terminal
    from thiessen.contract import Comparison, SearchLine

ENDED: Final = ("completed", "stopped")


def watched(look: Callable[[], "Comparison"], console: "Terminal", every: float) -> "Comparison":
    """Show a bar until a comparison has ended; return it as it then is."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[told]}", markup=False),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=1.0, told="")
        while True:
            found = look()
            progress.update(
                bar, description=_done(found), completed=found.progress, told=harmless(_told(found))
            )
            if found.state in ENDED:
                return found
            time.sleep(every)


def _done(found: "Comparison") -> str:
    """Say what of the present stage is done: "searching, 34 of 180 trials"."""
    if found.stage == "searching":
        return f"searching, {_of([each for arm in found.arms for each in arm.searches])} trials"
    return f"confirming, {_of([arm.confirmation for arm in found.arms if arm.confirmation])} runs"


def _of(lines: "list[SearchLine]") -> str:
    finished = sum(each.finished for each in lines)
    expected = [each.expected for each in lines if each.expected is not None]
    return f"{finished} of {sum(expected)}" if len(expected) == len(lines) else f"{finished}"


def _told(found: "Comparison") -> str:
    """Say what it waits for, else when it is expected to be ready."""
    if found.waits_for or found.state == "paused":
        return found.waits_for or "paused"
    return f"ready at about {found.eta.astimezone():%a %H:%M}" if found.eta else ""
