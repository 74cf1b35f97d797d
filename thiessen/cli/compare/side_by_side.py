"""The command that shows studies side by side."""

from typing import TYPE_CHECKING, Annotated

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.output import Form, Output, printed
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.comparison.side_by_side import Facts, differences, facts
from thiessen.terminal import say

if TYPE_CHECKING:
    from thiessen.contract import History, Study


def compare(
    studies: Annotated[list[str], typer.Argument(metavar="STUDY...", help="Two or more.")],
    output: Output = Form.TABLE,
    server: Server = LOCAL,
) -> None:
    """Show studies side by side, and say where their budgets or trials are not alike.

    Without the word `studies` it is the same.

    Example: thiessen compare studies digits-random digits-biased
    """
    from thiessen.cli.tables import comparison

    names = list(dict.fromkeys(studies))
    if len(names) < 2:
        raise CommandFailed(
            f"{names[0]} alone cannot be compared: name two studies or more, or the file of a comparison."
        )
    with connected(server) as client:
        known = [_facts(client.study(name), client.history(name)) for name in names]
    printed(known, output, lambda: comparison(known))
    if unlike := differences(known):
        say(f"Not a fair comparison: {'; '.join(unlike)}.", err=True)


def _facts(study: "Study", history: "History") -> Facts:
    """Return what is known of a study, its trials included."""
    from statistics import median

    ended = zip(history.columns.state, history.columns.value, strict=True)
    succeeded = [value for state, value in ended if state == "succeeded" and value is not None]
    return {**facts(study), "median": median(succeeded) if succeeded else None}
