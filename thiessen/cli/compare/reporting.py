"""The command that tells what came of a comparison, on the terminal and into files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thiessen.cli.failure import CommandFailed
from thiessen.cli.studies import LOCAL, Server, connected
from thiessen.terminal import hand_over, say

if TYPE_CHECKING:
    from thiessen.contract import ComparisonReport

FORMS: Final = ("table", "json", "yaml", "markdown", "latex", "csv")
ENDINGS: Final[Mapping[str, str]] = {
    ".html": "html",
    ".md": "markdown",
    ".json": "json",
    ".tex": "latex",
    ".csv": "csv",
}

Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FORM|FILE",
        help=f"{', '.join(FORMS)}; or a file, which says its form by {', '.join(ENDINGS)}. Repeatable.",
        show_default="table",
    ),
]


@dataclass(frozen=True)
class Wish:
    """A form of a report, and the file it goes to, if not to the terminal."""

    form: str
    file: Path | None = None


def report(name: str, output: Outputs = None, server: Server = LOCAL) -> None:
    """Tell what came of a comparison so far: verdicts, fairness, arms.

    Example: thiessen compare report kfac-or-sgd --output report.html --output table.tex
    """
    wanted = wishes(output)
    with connected(server) as client:
        found = client.report(name)
    told(found, wanted)


def wishes(outputs: Sequence[str] | None) -> list[Wish]:
    """Return what is wanted, checked before anything is asked for. Raises CommandFailed."""
    return [_wish(each) for each in outputs or ("table",)]


def told(report: "ComparisonReport", wanted: Sequence[Wish]) -> None:
    """Print a report, and write it into the files that are wanted. Raises CommandFailed."""
    for wish in wanted:
        if wish.form == "table":
            _print(report)
            continue
        text = _written(report, wish.form)
        if wish.file is None:
            hand_over(text if text.endswith("\n") else f"{text}\n")
        else:
            _write(wish.file, text)
            say(f"The report of {report.name} is in {wish.file}.")


def _wish(text: str) -> Wish:
    if text in FORMS:
        return Wish(text)
    file = Path(text)
    if file.suffix not in ENDINGS:
        raise CommandFailed(
            f"{text!r} is neither a form ({', '.join(FORMS)}) nor a file that ends in {', '.join(ENDINGS)}."
        )
    if not file.parent.is_dir():
        raise CommandFailed(f"{file} cannot be written: there is no folder {file.parent}.")
    if file.suffix == ".html" and find_spec("plotly") is None:
        raise CommandFailed("figures need the package plotly: pip install 'thiessen[figures]'")
    return Wish(ENDINGS[file.suffix], file)


def _print(report: "ComparisonReport") -> None:
    from thiessen.cli.compare.tables import shown
    from thiessen.cli.tables import terminal
    from thiessen.comparison.written import numbers

    console = terminal()
    for table in numbers(report):
        if table.rows:
            console.print(shown(table))
    for sentence in [*(pair.says for pair in report.pairs), *report.says]:
        say(sentence)


def _written(report: "ComparisonReport", form: str) -> str:
    from thiessen.comparison import written

    match form:
        case "html":
            from thiessen.cli.compare.page import page

            return page(report)
        case "markdown":
            return written.markdown(report)
        case "latex":
            return written.latex(report)
        case "csv":
            return written.csv(report)
        case "yaml":
            import yaml

            return str(yaml.safe_dump(report.model_dump(mode="json"), sort_keys=False))
        case _:
            return report.model_dump_json(indent=2)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}.") from error
