"""The group of commands that compare, and what is meant where none of them is named."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from thiessen.cli.compare import changing, looking, reporting, running, side_by_side
from thiessen.cli.failure import CommandFailed
from thiessen.cli.study_file import KINDS

ENDINGS: Final = (".toml", *KINDS)


class Compare(TyperGroup):
    """Takes a lone file for `run FILE`, and several names for `studies NAME NAME`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed, with the command that is meant before it. Raises CommandFailed."""
        meant = [] if not args or args[0] in (*self.commands, "--help") else [self._meant(args)]
        return super().parse_args(ctx, [*meant, *args])

    def _meant(self, args: list[str]) -> str:
        words = list(self._words(args))
        files = [word for word in words if Path(word).is_file()]
        if len(words) > 1 and files:
            raise CommandFailed(
                f"{files[0]} is a file here, and may be a study's name too. To run the comparison of a file: "
                f"thiessen compare run {files[0]}. To see studies side by side: "
                f"thiessen compare studies {' '.join(words)}."
            )
        return "studies" if words and not files and Path(words[0]).suffix not in ENDINGS else "run"

    def _words(self, args: list[str]) -> Iterator[str]:
        """Yield what is no option, and no option's value."""
        takes_value = {
            option
            for command in (self.commands["run"], self.commands["studies"])
            for parameter in command.params
            if not getattr(parameter, "is_flag", True)
            for option in parameter.opts
        }
        before = ""
        for each in args:
            if not each.startswith("-") and before not in takes_value:
                yield each
            before = each


def register(commands: typer.Typer) -> None:
    """Add the group."""
    compare = typer.Typer(
        cls=Compare,
        help="Compare arms fairly, or see studies side by side.\n\n"
        "`thiessen compare FILE` is `thiessen compare run FILE`; `thiessen compare A B` is "
        "`thiessen compare studies A B`.",
        no_args_is_help=True,
    )
    compare.command()(running.run)
    compare.command()(looking.plan)
    compare.command("list")(looking.listed)
    compare.command()(looking.show)
    compare.command()(looking.watch)
    compare.command()(reporting.report)
    compare.command()(changing.pause)
    compare.command()(changing.resume)
    compare.command()(changing.stop)
    compare.command()(changing.extend)
    compare.command()(changing.delete)
    compare.command()(looking.profile)
    compare.command("studies")(side_by_side.compare)
    commands.add_typer(compare, name="compare")
