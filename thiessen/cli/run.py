"""The command that searches over the arguments of any program."""

import math
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.terminal import say

if TYPE_CHECKING:
    from thiessen.cli.command_line import CommandLine
    from thiessen.cli.program import Program, Terms
    from thiessen.local import Told
    from thiessen.study import Direction, Study

SIGNALLED: Final = 128  # the exit code of a program that a signal ended is this and the signal's number
SHOW_CURSOR: Final = "\x1b[?25h"  # a bar hides it


def register(commands: typer.Typer) -> None:
    """Add the command."""
    # Options before the program are ours, all that comes after it is the program's.
    commands.command(context_settings={"allow_interspersed_args": False})(run)


def run(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="With its arguments: dimensions in the places of values."),
    ],
    trials: Annotated[
        int | None, typer.Option(min=1, help="How many in all.", show_default="100, or as before")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=1024, help="Trials at a time.")] = 1,
    dimension: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIMENSION", help="One that stands in no argument; repeatable."),
    ] = None,
    loss_from: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Regular expression; the group of its last match is the value.",
            show_default="the last line as loss: 0.1, loss=0.1 or 0.1",
        ),
    ] = None,
    maximize: Annotated[bool, typer.Option("--maximize", help="Large values are good.")] = False,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="End a trial that takes more than so many seconds.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="Where the study is kept.", show_default="named after the program", dir_okay=False),
    ] = None,
    server: Annotated[str | None, typer.Option(help="Keep it on this server, or in this database.")] = None,
    study: Annotated[
        str | None, typer.Option(help="Its name on the server.", show_default="that of the program")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help="How configs are proposed.", show_default="biased_random")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the study.", show_default="0")] = None,
    logs: Annotated[
        Path | None,
        typer.Option(help="Folder for what each trial prints.", show_default="not kept", file_okay=False),
    ] = None,
) -> None:
    """Search over the arguments of any program, without a change of its code.

    Options before the program are ours, all that comes after it is the program's. A dimension stands in the
    place of a value: float(1e-5,1,log), int(1,8), choice(sgd,adam), ordinal(s,m,l), boolean(), flag(). The
    last line that the program prints as loss: 0.123, loss=0.123 or a bare number is its value. The same
    command again goes on where it was.

    Example: thiessen run --trials 50 ./train.py --lr 'float(1e-5,1,log)' --layers 'int(1,8)'
    """
    from thiessen.cli.command_line import CommandLine
    from thiessen.cli.outcome import ProgramFailed
    from thiessen.cli.program import Program

    line = CommandLine.of(program, dimension or ())
    _check_there(program[0])
    tried = Program(line, _terms(loss_from, time_limit, logs))
    terms = {"strategy": strategy, "seed": seed, "direction": "maximize" if maximize else None}
    with _opened(line, _kept(journal, server, study, _name(program)), server, trials, terms) as opened:
        tried.has_any_value = opened.best is not None
        try:
            with _passed_on(tried):
                opened.optimize(tried, n_jobs=jobs, catch=ProgramFailed)
        except KeyboardInterrupt:
            ended = f"{opened.ended} of {opened.max_trials} trials have ended"
            say(f"Stopped: {ended}. The same command again goes on.", err=True)
            raise typer.Exit(SIGNALLED + (tried.stopped_by or signal.SIGINT)) from None
        _conclude(opened, tried)


def _terms(loss_from: str | None, time_limit: float | None, logs: Path | None) -> "Terms":
    from thiessen.cli.outcome import USUAL
    from thiessen.cli.program import Terms

    try:
        pattern = USUAL if loss_from is None else re.compile(loss_from, re.MULTILINE)
        if logs is not None:
            logs.mkdir(parents=True, exist_ok=True)
    except re.error as error:
        raise CommandFailed(f"--loss-from {loss_from!r} is no regular expression: {error}.") from error
    except OSError as error:
        raise CommandFailed(f"cannot use {logs}: {error.strerror}. Choose other --logs.") from error
    return Terms(pattern=pattern, seconds=math.inf if time_limit is None else time_limit, logs=logs)


def _check_there(program: str) -> None:
    if shutil.which(program) is not None:
        return
    if not Path(program).is_file():
        raise CommandFailed(
            f"there is no program {program!r} here. Name a file, or a command that the shell finds."
        )
    path = program if os.sep in program else f".{os.sep}{program}"
    raise CommandFailed(
        f"{program} is a file that cannot be run so. Say what runs it, as in thiessen run python {path} ...; "
        f"or give it a first line such as #!/usr/bin/env python3, make it executable (chmod +x {path}) and "
        f"write thiessen run {path} ..."
    )


def _name(program: Sequence[str]) -> str:
    """Return the name of a study: the first file that the command names, without its ending."""
    file = next((word for word in program if Path(word).is_file()), program[0])
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(file).stem).strip("-._") or "program"


def _kept(journal: Path | None, server: str | None, study: str | None, usual: str) -> str:
    """Return the file of the journal, or the name on the server. Raises CommandFailed."""
    if server is None and study is not None:
        raise CommandFailed(
            "--study names a study on a server: give --server too, or --journal in its place."
        )
    if server is not None and journal is not None:
        raise CommandFailed("a study is kept in a --journal or on a --server: give one of them.")
    return (study or usual) if server is not None else str(journal or f"{usual}.jsonl")


@contextmanager
def _opened(
    line: "CommandLine", name: str, server: str | None, trials: int | None, terms: Mapping[str, Any]
) -> "Iterator[Study]":
    """Yield the study; what is refused ends the command."""
    from thiessen.errors import ThiessenError
    from thiessen.opening import connect, in_journal
    from thiessen.search.strategy import StrategyError

    try:
        with ExitStack() as stack:
            if server is None:
                opened = in_journal(name, _told(line, **terms), trials)
            else:
                token = os.environ.get("THIESSEN_TOKEN") or None
                client = stack.enter_context(connect(server, token=token))
                opened = client.open_study(name, line.space, trials=trials, **terms)
            yield stack.enter_context(opened)
    except (ThiessenError, StrategyError) as error:
        raise CommandFailed(str(error)) from error


def _told(
    line: "CommandLine", *, strategy: str | None, seed: int | None, direction: "Direction | None"
) -> "Told":
    from thiessen.integrations import KNOWN
    from thiessen.local import Told
    from thiessen.search.settings import strategy_from_json

    return Told(
        space=line.space,
        strategy=None if strategy is None else strategy_from_json(strategy, KNOWN),
        seed=seed,
        direction=direction,
        stopping=None,
        command=line.fixed,
    )


@contextmanager
def _passed_on(tried: "Program") -> Iterator[None]:
    """Let the first signal reach what runs, and the second one end everything."""

    def pass_on(number: int, frame: object) -> None:
        del frame
        if tried.stopped_by is None:
            tried.stop(number)
            return
        tried.kill()
        if sys.stderr.isatty():
            sys.stderr.write(SHOW_CURSOR)
        os._exit(SIGNALLED + number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _conclude(study: "Study", tried: "Program") -> None:
    """Say what came of it, and how to run the best once more."""
    counts = Counter(each.state for each in study.results())
    states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    ended = f"{study.name}: {study.ended} of {study.max_trials} trials have ended ({states})."
    if tried.failures:
        ended += f"\nThe last failure: {tried.failures[-1]}"
    if study.best is None:
        raise CommandFailed(f"{ended}\nNone has succeeded.")
    say(ended)
    best = study.best
    say(f"Best: {best.value:.6g} in trial {best.number}. Once more:")
    say(tried.once_more(best.config, best.number, best.seed))
