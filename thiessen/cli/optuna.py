"""Commands that copy studies between Optuna's databases and a server."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.studies import LOCAL, Server
from thiessen.terminal import harmless, say

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.study._frozen import FrozenStudy
    from optuna.trial import FrozenTrial

    from thiessen.integrations.optuna_storage import ThiessenStorage

AT_ONCE: Final = 500  # trials of one request
LARGEST: Final = 1_000_000  # characters of one request, but for a larger trial
FILE: Final = "sqlite:///"

Add = Callable[[int, Sequence["FrozenTrial"]], object]


def register(commands: typer.Typer) -> None:
    """Add the commands on Optuna's studies."""
    optuna = typer.Typer(help="Copy studies of Optuna to a server, and back.", no_args_is_help=True)
    optuna.command("import")(imported)
    optuna.command()(export)
    commands.add_typer(optuna, name="optuna")


def imported(
    database: Annotated[str, typer.Argument(help="A database of Optuna, such as sqlite:///old.db.")],
    study: Annotated[str | None, typer.Option(help="Only this study.", show_default="all of them")] = None,
    server: Server = LOCAL,
) -> None:
    """Copy the studies of a database of Optuna to a server, with all their trials and attributes.

    Example: thiessen optuna import sqlite:///old.db --study digits
    """
    with _speaking() as optuna:
        if database.startswith(FILE) and not Path(database.removeprefix(FILE)).is_file():
            raise CommandFailed(f"there is no file {database.removeprefix(FILE)}. Check the name.")
        source = optuna.storages.RDBStorage(database, skip_table_creation=True)
        target = _ours(server)
        wanted = [each for each in source.get_all_studies() if study in {None, each.study_name}]
        if not wanted:
            raise CommandFailed(f"{database} has no study{'' if study is None else f' {study!r}'}.")
        _must_be_free(target, [each.study_name for each in wanted], f"{server} has")
        for each in wanted:
            count = _copied(source, target, each, lambda study_id, trials: _sent(target, study_id, trials))
            say(f"{server} has study {each.study_name!r} of Optuna: {count:,} trials.")


def export(
    study: Annotated[str, typer.Argument(help="A study of Optuna on the server.")],
    database: Annotated[str, typer.Argument(help="Where to write it, such as sqlite:///new.db.")],
    server: Server = LOCAL,
) -> None:
    """Copy a study of Optuna from a server into a database of Optuna, which is made if it is not there.

    Example: thiessen optuna export digits sqlite:///new.db
    """
    with _speaking() as optuna:
        source = _ours(server)
        wanted = [each for each in source.get_all_studies() if each.study_name == study]
        if not wanted:
            raise CommandFailed(f"{server} has no study {study!r} of Optuna. Check the name.")
        target = optuna.storages.RDBStorage(database)
        _must_be_free(target, [study], f"{database} has")

        def add(study_id: int, trials: Sequence["FrozenTrial"]) -> None:
            for trial in trials:
                target.create_new_trial(study_id, trial)

        count = _copied(source, target, wanted[0], add)
        say(f"{database} has study {study!r}: {count:,} trials.")


@contextmanager
def _speaking() -> "Iterator[Any]":
    """Yield Optuna; whatever it, a database or the server says ends the command."""
    try:
        import optuna
    except ModuleNotFoundError as error:
        raise CommandFailed("this needs Optuna: pip install 'thiessen[optuna]'.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield optuna
    except CommandFailed:
        raise
    except Exception as error:  # drivers of databases raise what they like
        raise CommandFailed(str(error) or type(error).__name__) from error


def _ours(server: str) -> "ThiessenStorage":
    from thiessen.integrations.optuna_storage import ThiessenStorage

    return ThiessenStorage(server, token=os.environ.get("THIESSEN_TOKEN") or None, offline_seconds=30)


def _must_be_free(target: "BaseStorage", names: Sequence[str], who: str) -> None:
    """Raise CommandFailed if a study of a name is there: nothing is copied then."""
    for each in target.get_all_studies():
        if each.study_name in names:
            raise CommandFailed(
                f"{who} a study {each.study_name!r} of Optuna already, and nothing was copied. "
                "Delete that one with optuna.delete_study, or copy others."
            )


def _copied(source: "BaseStorage", target: "BaseStorage", study: "FrozenStudy", add: Add) -> int:
    """Copy a study; return how many trials it has. What was begun is removed if it cannot be finished."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from thiessen.cli.tables import terminal

    trials = source.get_all_trials(study._study_id, deepcopy=False)  # noqa: SLF001 - as optuna.copy_study
    study_id = target.create_new_study(study.directions, study.study_name)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    try:
        for key, value in study.user_attrs.items():
            target.set_study_user_attr(study_id, key, value)
        for key, value in study.system_attrs.items():
            target.set_study_system_attr(study_id, key, value)
        with Progress(*columns, console=terminal()) as progress:
            task = progress.add_task(harmless(study.study_name), total=len(trials))
            for begin in range(0, len(trials), AT_ONCE):
                page = trials[begin : begin + AT_ONCE]
                add(study_id, page)
                progress.advance(task, len(page))
    except BaseException:
        with suppress(Exception):
            target.delete_study(study_id)
        raise
    return len(trials)


def _sent(target: "ThiessenStorage", study_id: int, trials: Sequence["FrozenTrial"]) -> None:
    """Add trials, as many at once as fit into a request."""
    from pydantic import ValidationError

    from thiessen.contract import OptunaTrialSpec
    from thiessen.contract.faults import faults
    from thiessen.integrations.optuna_storage import trial_spec

    page: list[OptunaTrialSpec] = []
    size = 0
    for trial in trials:
        try:
            spec = trial_spec(trial)
        except ValidationError as error:
            raise CommandFailed(
                f"trial {trial.number} is none that a server takes: {faults(error)}."
            ) from error
        length = len(spec.model_dump_json(exclude_unset=True))
        if page and size + length > LARGEST:
            target.add_trials(study_id, page)
            page, size = [], 0
        page.append(spec)
        size += length
    target.add_trials(study_id, page)
