"""Commands that change a comparison."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.terminal import say

if TYPE_CHECKING:
    from thiessen.contract import Comparison


def pause(name: str, server: Server = LOCAL) -> None:
    """Let the running trials of a comparison finish, and begin no other.

    Example: thiessen compare pause kfac-or-sgd
    """
    _change(name, {"state": "paused"}, server)


def resume(name: str, server: Server = LOCAL) -> None:
    """Go on with a comparison that was paused.

    Example: thiessen compare resume kfac-or-sgd
    """
    _change(name, {"state": "active"}, server)


def stop(name: str, server: Server = LOCAL) -> None:
    """End a comparison now; its running trials are given back.

    Example: thiessen compare stop kfac-or-sgd
    """
    _change(name, {"state": "stopped"}, server)


def extend(
    name: str,
    replicates: Annotated[int | None, typer.Option(min=1, help="How many searches of each arm.")] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Of each search, in all.")] = None,
    updates: Annotated[int | None, typer.Option(min=1, help="Of each search, in all.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Of each search, in all.")] = None,
    server: Server = LOCAL,
) -> None:
    """Go further: more searches of each arm, or more of the unit that limits each of them.

    All arms get the same, and what was confirmed is confirmed anew.

    Example: thiessen compare extend kfac-or-sgd --replicates 20
    """
    effort = {"trials": trials, "updates": updates, "seconds": seconds}
    budget = {unit: most for unit, most in effort.items() if most is not None}
    changes = {"replicates": replicates, "budget": budget or None}
    wanted = {each: value for each, value in changes.items() if value is not None}
    if not wanted:
        raise CommandFailed("say how far: --replicates, --trials, --updates or --seconds.")
    _change(name, wanted, server)


def delete(
    name: str,
    purge: Annotated[bool, typer.Option("--purge", help="Remove its studies too, for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    server: Server = LOCAL,
) -> None:
    """Stop a comparison and hide it with its studies; with --purge remove all of it.

    Example: thiessen compare delete kfac-or-sgd --yes
    """
    if not yes:
        typer.confirm(f"Delete comparison {name}{' with all its studies' if purge else ''}?", abort=True)
    with connected(server) as client:
        client.delete_comparison(name, purge=purge)
    say(f"Comparison {name} is {'gone' if purge else 'stopped and hidden'}.")


def _change(name: str, changes: dict[str, Any], server: str) -> None:
    from pydantic import ValidationError

    from thiessen.contract import ComparisonChanges
    from thiessen.contract.faults import faults

    try:
        wanted = ComparisonChanges.model_validate(changes)
    except ValidationError as error:
        raise CommandFailed(f"{name} cannot be changed so: {faults(error)}.") from error
    with connected(server) as client:
        found = client.change_comparison(name, wanted)
    say(_in_words(found))


def _in_words(found: "Comparison") -> str:
    planned = found.planned
    runs = f", then {planned.runs} runs" if planned.runs else ""
    return f"{found.name}: {found.state}, {found.progress:.0%} of {planned.searches} searches{runs}."
