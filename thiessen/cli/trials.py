"""Commands that speak of trials to a server."""

from typing import TYPE_CHECKING, Any

import typer

from thiessen.cli.output import Form, Output, printed
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.terminal import say

if TYPE_CHECKING:
    from rich.table import Table

    from thiessen.contract import Trial


def register(commands: typer.Typer) -> None:
    """Add the trial commands."""
    trial = typer.Typer(help="Read and change trials.", no_args_is_help=True)
    trial.command()(show)
    trial.command()(why)
    trial.command()(retry)
    trial.command()(cancel)
    commands.add_typer(trial, name="trial")


def show(study: str, number: int, output: Output = Form.TABLE, server: Server = LOCAL) -> None:
    """Show a trial: its config, what came of it, and each attempt.

    Example: thiessen trial show digits-sgd 3
    """
    with connected(server) as client:
        trial = client.trial(study, number)
    printed(trial.model_dump(mode="json"), output, lambda: _table(trial))


def why(study: str, number: int, server: Server = LOCAL) -> None:
    """Say why the config of a trial was proposed.

    Example: thiessen trial why digits-sgd 3
    """
    with connected(server) as client:
        trial = client.trial(study, number)
    if trial.reasons is None:
        say(f"Trial {number} was not proposed: it was {trial.origin}.")
        return
    say(trial.reasons.explanation)
    for each in trial.reasons.last_refused:
        estimate = "nothing finite" if each.estimate is None else f"a loss of {each.estimate:.6g}"
        say(f"  refused before it: {each.config}, expected {estimate}, kept with {each.acceptance:.2g}")


def retry(study: str, number: int, server: Server = LOCAL) -> None:
    """Try a failed trial again.

    Example: thiessen trial retry digits-sgd 3
    """
    _change(study, number, "queued", server)


def cancel(study: str, number: int, server: Server = LOCAL) -> None:
    """End a trial that has not finished, for good.

    Example: thiessen trial cancel digits-sgd 3
    """
    _change(study, number, "cancelled", server)


def _change(study: str, number: int, state: Any, server: str) -> None:
    from thiessen.contract import TrialChanges

    with connected(server) as client:
        trial = client.change_trial(study, number, TrialChanges(state=state))
    say(f"Trial {number} of {study} is {trial.state}.")


def _table(trial: "Trial") -> "Table":
    from rich.table import Table

    table = Table(title=f"Trial {trial.trial} of {trial.study}", show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    value = "" if trial.value is None or trial.value == trial.loss else f" (value {trial.value:g})"
    rows = {
        "state": trial.state + (f" ({trial.cause})" if trial.cause else ""),
        "loss": "" if trial.loss is None else f"{trial.loss:g}{value}",
        "seed": str(trial.seed),
        **{f"config.{name}": str(each) for name, each in trial.config.items()},
        "why": f"it was {trial.origin}" if trial.reasons is None else trial.reasons.explanation,
        "notes": trial.notes,
    }
    for attempt in trial.attempts:
        began = f"{attempt.started_at:%Y-%m-%d %H:%M:%S}"
        what = attempt.outcome or "is under way"
        told = f": {attempt.message}" if attempt.message else ""
        where = f"on {attempt.device} of {attempt.worker}" if attempt.device else f"by {attempt.worker}"
        rows[f"attempt {attempt.attempt}"] = f"{what} {where}, since {began}{told}"
    for name, each in rows.items():
        if each:
            table.add_row(name, each)
    return table
