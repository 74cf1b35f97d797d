"""What is known of several studies side by side, and whether that is fair to them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.output import Form, Output, printed
from thiessen.cli.studies import LOCAL, Server, connected

if TYPE_CHECKING:
    from thiessen.contract import History, Study

ALIKE: Final = {  # what a fair comparison has alike, as people call it
    "max_trials": "trials allowed",
    "max_gpu_hours": "GPU hours allowed",
    "deadline": "deadlines",
    "target": "targets",
    "finished": "trials finished",
    "imported": "trials imported",
    "task": "tasks",
    "direction": "directions",
}

Facts = Mapping[str, Any]


def register(commands: typer.Typer) -> None:
    """Add the command."""
    commands.command()(compare)


def compare(
    studies: Annotated[list[str], typer.Argument(metavar="STUDY...", help="Two or more.")],
    output: Output = Form.TABLE,
    server: Server = LOCAL,
) -> None:
    """Show studies side by side, and say where their budgets or trials are not alike.

    Example: thiessen compare digits-random digits-biased
    """
    from thiessen.cli.tables import comparison

    names = list(dict.fromkeys(studies))
    if len(names) < 2:
        raise CommandFailed(f"{names[0]} alone cannot be compared: name two studies or more.")
    with connected(server) as client:
        known = [facts(client.study(name), client.history(name)) for name in names]
    printed(known, output, lambda: comparison(known))
    if unlike := differences(known):
        typer.echo(f"Not a fair comparison: {'; '.join(unlike)}.", err=True)


def facts(study: "Study", history: "History") -> Facts:
    """Return what is known of a study."""
    from statistics import median

    from thiessen.integrations import KNOWN
    from thiessen.search.settings import in_words

    ended = zip(history.columns.state, history.columns.value, strict=True)
    succeeded = [value for state, value in ended if state == "succeeded" and value is not None]
    counts = study.counts
    return {
        "study": study.name,
        "task": study.task,
        "strategy": in_words(study.strategy, KNOWN),
        "direction": study.direction,
        "max_trials": study.max_trials,
        "expected": study.expected,
        "max_gpu_hours": study.max_gpu_hours,
        "deadline": study.deadline,
        "target": study.target,
        "finished": counts.finished,
        "succeeded": counts.succeeded,
        "diverged": counts.diverged,
        "pruned": counts.pruned,
        "failed": counts.failed,
        "cancelled": counts.cancelled,
        "imported": study.imported,
        "gpu_hours": study.gpu_hours,
        "best": study.best.value if study.best else None,
        "median": median(succeeded) if succeeded else None,
    }


def differences(known: Sequence[Facts]) -> list[str]:
    """Return what a fair comparison has alike and these studies have not, a sentence for each."""
    found = []
    for name, called in ALIKE.items():
        if len({each[name] for each in known}) > 1:
            whose = ", ".join(f"{_told(each[name])} in {each['study']}" for each in known)
            found.append(f"{called} differ ({whose})")
    return found


def _told(fact: object) -> str:
    return "none" if fact is None else f"{fact:g}" if isinstance(fact, float) else str(fact)
