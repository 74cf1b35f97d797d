"""Commands that look at comparisons: before they begin, while they run, and over several workloads."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from thiessen.cli.compare.reporting import told, wishes
from thiessen.cli.compare.watching import watched
from thiessen.cli.output import Form, Output, printed
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.terminal import say

File = Annotated[Path, typer.Argument(help="The comparison as TOML, YAML or JSON.", dir_okay=False)]


def plan(
    file: File,
    output: Output = Form.TABLE,
    server: Annotated[
        str | None, typer.Option(help="Address of a server that checks it too.", show_default="none is asked")
    ] = None,
) -> None:
    """Say what a comparison would search and cost; nothing is created.

    Example: thiessen compare plan kfac-or-sgd.toml
    """
    from thiessen.cli.compare.tables import planned, shown
    from thiessen.cli.study_file import comparison
    from thiessen.comparison.cost import in_words
    from thiessen.comparison.plan import cost, dimensions, settings

    spec = comparison(file)
    expected = cost(spec)
    if server is not None:
        with connected(server) as client:
            expected = client.plan_comparison(spec)
    arms = [
        {
            "arm": arm.label,
            "task": arm.task or spec.task,
            "strategy": spec.strategy if arm.strategy is None else arm.strategy,
            "searches": list(dimensions(spec, arm)),
            "settings": settings(spec, arm),
        }
        for arm in spec.arms
    ]
    cost_of_all = expected.model_dump(mode="json")
    rows = {"name": spec.name, "cost": cost_of_all, "arms": arms}
    printed(arms if output is Form.CSV else rows, output, lambda: shown(planned(spec.name, arms)))
    if output is Form.TABLE:
        say(f"{in_words(spec, expected)}.")


def listed(
    state: Annotated[
        str | None, typer.Option(help="Only those that are active, paused, stopped or completed.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the newest first.")] = 50,
    output: Output = Form.TABLE,
    server: Server = LOCAL,
) -> None:
    """List comparisons, the newest first.

    Example: thiessen compare list --state active
    """
    from thiessen.cli.compare.tables import comparisons, shown

    with connected(server) as client:
        found = list(islice(client.each_comparison(state=state), limit))
    if not found and output is Form.TABLE:
        say("There is no such comparison. Run one: thiessen compare kfac-or-sgd.toml")
        return
    printed([each.model_dump(mode="json") for each in found], output, lambda: shown(comparisons(found)))


def show(name: str, output: Output = Form.TABLE, server: Server = LOCAL) -> None:
    """Show how far a comparison is, arm by arm.

    Example: thiessen compare show kfac-or-sgd
    """
    from thiessen.cli.compare.tables import shown, standing

    with connected(server) as client:
        found = client.comparison(name)
    printed(found.model_dump(mode="json"), output, lambda: shown(standing(found)))


def watch(
    name: str,
    every: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds between two looks.")] = 1.0,
    server: Server = LOCAL,
) -> None:
    """Show how far a comparison is until it has ended; Ctrl-C only stops watching.

    Example: thiessen compare watch kfac-or-sgd
    """
    from thiessen.cli.tables import terminal

    with connected(server) as client:
        watched(lambda: client.comparison(name), terminal(), every)
        found = client.report(name)
    told(found, wishes(None))


def profile(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Comparisons of the same arms.")],
    over: Annotated[str, typer.Option(help="What is counted: updates or seconds.")] = "updates",
    output: Output = Form.TABLE,
    server: Server = LOCAL,
) -> None:
    """Say on which share of several workloads an arm is nearly the fastest to the target.

    Each comparison is a workload. An arm of area 1 was the fastest on every one.

    Example: thiessen compare profile digits mnist faces
    """
    from thiessen.cli.compare.tables import profiles, shown

    with connected(server) as client:
        found = client.profile(names, over=over)
    rows = [{"arm": line.label, "area": line.area} for line in found.lines]
    printed(
        rows if output is Form.CSV else found.model_dump(mode="json"),
        output,
        lambda: shown(profiles(found)),
    )
