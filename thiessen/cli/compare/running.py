"""The command that runs a comparison: on a server, or on this machine alone."""

import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeVar

import typer

from thiessen.cli.compare.here import Here, house
from thiessen.cli.compare.looking import File
from thiessen.cli.compare.reporting import Outputs, Wish, told, wishes
from thiessen.cli.compare.watching import watched
from thiessen.cli.failure import CommandFailed
from thiessen.cli.processes import forget_other_servers, stopped_by_signals
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.terminal import say

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.contract import ComparisonSpec, TaskAnswer

T = TypeVar("T")

SIGNALLED: Final = 128  # the exit code of a program that a signal ended is this and the signal's number
EVERY: Final = 1.0  # seconds between two looks


class Asked(Protocol):
    """Returns what a server answers to a question."""

    def __call__(self, ask: Callable[[], T]) -> T: ...


def run(
    context: typer.Context,
    file: File,
    here: Annotated[
        bool, typer.Option("--here", help="With a server and a worker of its own, on this machine.")
    ] = False,
    slots: Annotated[
        int, typer.Option(min=1, max=64, help="Here: trials at a time; with GPUs, on each of them.")
    ] = 1,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Here: where all is kept, to go on with.", show_default="NAME.thiessen beside the file"
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Here: of the dashboard; 0 takes any free one.")
    ] = 0,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Here: what the worker offers, as module:function; repeatable."),
    ] = None,
    output: Outputs = None,
    server: Server = LOCAL,
) -> None:
    """Run a comparison until its report is there; the same command again goes on where it was.

    What it costs is said before it begins. On a server, Ctrl-C only stops watching. With --here it stops the
    server and the worker that it has started, and all they know stays in the folder.

    Example: thiessen compare run kfac-or-sgd.toml --here --slots 2
    """
    from thiessen.cli.study_file import comparison

    spec, wanted = comparison(file), wishes(output)
    if here:
        if _is_typed(context, "server"):
            raise CommandFailed("a comparison runs on a --server or --here: give one of them.")
        home = folder or file.parent / f"{spec.name}.thiessen"
        _run_here(spec, wanted, partial(house, home, port=port, slots=slots, tasks=task or ()), home)
        return
    if only_here := [each for each in ("slots", "folder", "port", "task") if _is_typed(context, each)]:
        raise CommandFailed(f"--{only_here[0]} is of a worker or server that starts --here: add that.")
    with connected(server) as client:
        _run(spec, wanted, client, lambda ask: ask())


def _run_here(
    spec: "ComparisonSpec",
    wanted: Sequence[Wish],
    start: Callable[..., AbstractContextManager[Here]],
    home: Path,
) -> None:
    """Run a comparison with a server and a worker of its own. Raises Exit when a signal stops it."""
    forget_other_servers()
    say(f"A server and a worker start here; all they know is kept in {home}.")
    try:
        with stopped_by_signals(), start(tell=say) as here, connected(here.url) as client:
            _check_offered(here.asked(client.tasks), spec)
            _run(spec, wanted, client, here.asked)
    except KeyboardInterrupt as interrupt:
        say(f"Stopped. The same command again goes on with what is in {home}.", err=True)
        number = interrupt.args[0] if interrupt.args else signal.SIGINT
        raise typer.Exit(SIGNALLED + number) from None


def _run(spec: "ComparisonSpec", wanted: Sequence[Wish], client: "Client", asked: Asked) -> None:
    """Create a comparison, watch it and tell what came of it. Raises CommandFailed when it was stopped."""
    from thiessen.cli.tables import terminal
    from thiessen.comparison.cost import in_words

    cost = asked(lambda: client.plan_comparison(spec))
    say(f"{spec.name}: {in_words(spec, cost)}.")
    asked(lambda: client.create_comparison(spec))
    say(f"Dashboard: {client.url}/comparisons/{spec.name}")
    found = watched(lambda: asked(lambda: client.comparison(spec.name)), terminal(), EVERY)
    told(asked(lambda: client.report(spec.name)), wanted)
    if found.state == "stopped":
        raise CommandFailed(f"{spec.name} was stopped before its end; the report is of what there is.")


def _check_offered(tasks: "Sequence[TaskAnswer]", spec: "ComparisonSpec") -> None:
    """Raise CommandFailed when the worker has no such task: nobody else will come."""
    offered = {each.name for each in tasks}
    for name in [arm.task or spec.task for arm in spec.arms]:
        if name not in offered:
            raise CommandFailed(
                f"no task {name!r} is installed here; there are {', '.join(sorted(offered))}. "
                "A function of your own is offered by --task module:function, and called module.function."
            )


def _is_typed(context: typer.Context, option: str) -> bool:
    """Return whether an option was given on the command line, and not by the environment."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"
