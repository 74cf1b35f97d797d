"""Writes the tables in docs/reference/tasks.md out of the settings of the tasks, between two markers."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from thiessen.space import Dimension, Float, Int
from worker.config import Setting, settings_of
from worker.tasks.autoencoder import Autoencoder
from worker.tasks.classifier import Classifier
from worker.tasks.function import Function
from worker.tasks.network import NetworkSettings
from worker.tasks.sequence import Sequence
from worker.training.optimizers import OPTIMIZERS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "tasks.md"
BEGIN, END = "<!-- tables: written by `make reference` out of the code -->\n", "<!-- end of tables -->\n"
TASKS = {"classifier": Classifier, "autoencoder": Autoencoder, "sequence": Sequence, "function": Function}


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(written(PAGE.read_text()))


def written(page: str) -> str:
    """Return the page with the tables as they are in the code."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n".join(["", *_tables(), ""]) + END + rest.split(END)[1]


def _tables() -> Iterator[str]:
    shared = settings_of(NetworkSettings)
    for task, kind in TASKS.items():
        own = {name: each for name, each in settings_of(kind).items() if shared.get(name) != each}
        yield from (f"## {task}", "", *_table(own), "")
        if issubclass(kind, NetworkSettings):
            yield from ("And [those of every training](#every-training), and those of its optimizer.", "")
    yield from ("## Every training", "", *_table(shared), "", "## Optimizers", "")
    for name, row in OPTIMIZERS.items():
        yield from (f"### {name}", "", row.meaning, "", *_table(row.settings), "")


def _table(settings: Mapping[str, Setting]) -> Iterator[str]:
    yield "| setting | it is | default | suggested | meaning |"
    yield "|---|---|---|---|---|"
    for name, each in settings.items():
        yield f"| `{name}` | {each.limits} | {_default(each)} | {_range(each.suggested)} | {each.meaning} |"


def _default(each: Setting) -> str:
    if each.default is None:
        return "found"
    if isinstance(each.default, bool):
        return "true" if each.default else "false"
    return f"`{each.default}`" if isinstance(each.default, str) else f"{each.default:g}"


def _range(dimension: Dimension | None) -> str:
    if not isinstance(dimension, Float | Int):
        return ""
    return f"{dimension.low:g} to {dimension.high:g}{', log' if dimension.log else ''}"


if __name__ == "__main__":
    main()
