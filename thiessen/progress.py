"""How far a study is, for whoever watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from thiessen.console import Terminal
from thiessen.study import Study


@contextmanager
def bar(study: Study, *, is_forced: bool) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal, or in a notebook, and yield what moves it on."""
    console = Terminal(stderr=True, force_terminal=True if is_forced else None)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[best]}", markup=False),
    )
    is_seen = console.is_terminal or console.is_jupyter
    with Progress(*columns, console=console, disable=not is_seen) as progress:
        task = progress.add_task(study.name, total=study.max_trials, best="")

        def advance() -> None:
            progress.update(task, completed=study.ended, best=_best(study))

        if is_seen:
            advance()
        if is_seen and study.ended >= study.max_trials:
            progress.console.print(
                f"All {study.max_trials} trials of {study.name} have ended before: none is left to try. More "
                "trials go on from there; in another journal the study begins anew.",
                highlight=False,
            )
        yield advance if is_seen else _nobody_watches


def _best(study: Study) -> str:
    best = study.best
    return "" if best is None else f"best {best.value:.6g} in trial {best.number}"


def _nobody_watches() -> None:
    """Nothing is shown."""
