"""Commands that speak of tasks to a server."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.terminal import say

if TYPE_CHECKING:
    from thiessen.contract import TaskAnswer


def register(commands: typer.Typer) -> None:
    """Add the task commands."""
    task = typer.Typer(help="See what workers can train.", no_args_is_help=True)
    task.command("list")(listed)
    task.command()(space)
    commands.add_typer(task, name="task")


def listed(server: Server = LOCAL) -> None:
    """List the tasks that workers have registered.

    Example: thiessen task list
    """
    from thiessen.cli.tables import offered, terminal

    with connected(server) as client:
        found = client.tasks()
    if not found:
        say("No worker has registered a task yet. Start one: thiessen worker")
        return
    terminal().print(offered(found))


def space(
    name: str,
    optimizer: Annotated[
        str | None,
        typer.Option(
            help="Whose space: of an optimizer, or what else the task has one for.", show_default="the first"
        ),
    ] = None,
    server: Server = LOCAL,
) -> None:
    """Print a space that a task suggests, as a study file to begin with.

    Example: thiessen task space classifier --optimizer kfac > kfac.toml
    """
    with connected(server) as client:
        task = client.task(name)
    say(_study_file(task, _chosen(task, optimizer)))


def _chosen(task: "TaskAnswer", wanted: str | None) -> str:
    """Return the name of the space that is meant. Raises CommandFailed with those there are."""
    from thiessen.spelling import nearest

    if not task.spaces:
        raise CommandFailed(
            f"task {task.name!r} suggests no space. GET /api/v1/tasks/{task.name} has its schema."
        )
    if wanted is None:
        return next(iter(task.spaces))
    if wanted not in task.spaces:
        raise CommandFailed(
            f"task {task.name!r} suggests no space for {wanted!r}; {nearest(wanted, task.spaces)}."
        )
    return wanted


def _study_file(task: "TaskAnswer", chosen: str) -> str:
    dimensions = [f"{_key(name)} = {_value(entry)}" for name, entry in task.spaces[chosen].items()]
    head = [f'name = "{task.name}-{chosen}"', f'task = "{task.name}"', "max_trials = 40", "", "[space]"]
    return "\n".join([*head, *dimensions])


def _value(value: Any) -> str:
    """Return a value as TOML, tables on one line. Raises CommandFailed for null, which it has not."""
    match value:
        case dict():
            members = [f"{_key(name)} = {_value(each)}" for name, each in value.items()]
            return f"{{ {', '.join(members)} }}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case None:
            raise CommandFailed(
                "the space has null in it, which a TOML file cannot say; GET /api/v1/tasks has it."
            )
        case _:
            return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else json.dumps(name, ensure_ascii=False)
