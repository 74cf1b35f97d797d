"""Writes docs/reference/python.md out of the docstrings of what programs import, between two markers."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, cast

import optimizers
import thiessen

HOUSE: Final = Path(__file__).parents[1]
PAGE: Final = HOUSE / "docs" / "reference" / "python.md"
OPTIMIZERS: Final = HOUSE / "docs" / "reference" / "optimizers"
BEGIN, END = "<!-- names: written by `make reference` out of the code -->\n", "<!-- end of names -->\n"
MODULES: Final = {"thiessen.errors": "Errors", "worker.tasks": "For tasks of your own"}
GIVEN: Final = {"Result", "Study", "Trial"}  # to programs, which do not make them
LISTS: Final = {"choose.md", "conformance.md"}  # of all optimizers
FIELD: Final = re.compile(r"^    (\w+): (?!ClassVar)[^#]*?(?:  # (.*))?$")


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(written(PAGE.read_text()))


def written(page: str) -> str:
    """Return the page with the names as they are in the code."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n".join(["", *_names(), ""]) + END + rest.split(END)[1]


def public(module: Any) -> list[str]:
    """Return what a module has for others, functions first."""
    names = [name for name in module.__all__ if name != "__version__"]
    return sorted(names, key=lambda name: (inspect.isclass(getattr(module, name)), name.lower()))


def methods(kind: type) -> dict[str, Any]:
    """Return what a class of ours has for others, in the order of its source."""
    return {
        name: each
        for base in reversed(kind.__mro__)
        if base.__module__.startswith(("thiessen", "worker"))
        for name, each in vars(base).items()
        if not name.startswith("_")
        and (inspect.isfunction(each) or isinstance(each, property | classmethod | staticmethod))
    }


def _names() -> Iterator[str]:
    yield from ("## thiessen", "")
    for name in public(thiessen):
        yield from _described(name, getattr(thiessen, name))
    for module, title in MODULES.items():
        known = importlib.import_module(module)
        yield from (f"## {title}", "", f"From `{module}`.", "", "| name | what it is |", "|---|---|")
        yield from (f"| `{name}` | {_sentence(getattr(known, name))} |" for name in _own(known))
        yield ""
    yield from ("## optimizers", "", "| name | what it is |", "|---|---|")
    for name in public(optimizers):
        place = page_of(name)
        told = f"[`{name}`](optimizers/{place})" if place else f"`{name}`"
        yield f"| {told} | {_sentence(getattr(optimizers, name))} |"


def page_of(name: str) -> str | None:
    """Return the page of something of the optimizers: the one headed by it, or that says it most often."""
    pages = {page.name: page.read_text() for page in sorted(OPTIMIZERS.glob("*.md"))}
    said = {
        page: len(re.findall(rf"\b{name}\b", text)) + 1000 * len(re.findall(rf"(?m)^#+ {name}$", text))
        for page, text in pages.items()
        if page not in LISTS
    }
    most = max(said, key=lambda page: said[page])
    return most if said[most] else None


def _own(module: Any) -> list[str]:
    if hasattr(module, "__all__"):
        return public(module)
    kinds = vars(module).items()
    return [
        name
        for name, each in kinds
        if inspect.isclass(each) and each.__module__ == module.__name__ and not name.startswith("_")
    ]


def _described(name: str, what: Any) -> Iterator[str]:
    yield from (f"### {name}", "")
    if name not in GIVEN:
        yield from (f"`{_call(name, what)}`", "")
    for paragraph in _paragraphs(what):
        yield from (paragraph, "")
    if not inspect.isclass(what) or issubclass(what, Exception):
        return
    if fields := list(_fields(what)):
        yield from ("| field | meaning |", "|---|---|", *fields, "")
    elif known := methods(what):
        yield from ("| name | does |", "|---|---|")
        yield from (f"| `{_call(own, each)}` | {_cell(*_paragraphs(each))} |" for own, each in known.items())
        yield ""


def _call(name: str, what: Any) -> str:
    """Return how it is called, in the words of its source."""
    if isinstance(what, property):
        return name
    if is_dataclass(what):
        known = inspect.signature(what)
        bare = [each.replace(annotation=each.empty) for each in known.parameters.values()]
        return f"{name}{known.replace(parameters=bare, return_annotation=known.empty)}"
    function = getattr(what, "__func__", what)
    if inspect.isclass(what):
        function = vars(what).get("__init__")
        if function is None:
            return name
    return f"{name}({_arguments(function)})"


def _arguments(function: Any) -> str:
    [made] = ast.parse(dedent(inspect.getsource(function))).body
    arguments = cast("ast.FunctionDef", made).args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if isinstance(each.annotation, ast.Constant):  # in quotes, as it is loaded late
            each.annotation = ast.parse(str(each.annotation.value), mode="eval").body
    arguments.posonlyargs = []
    arguments.args = [each for each in arguments.args if each.arg not in {"self", "cls"}]
    return ast.unparse(arguments).replace("=", " = ").replace(" | ", " or ")


def _fields(kind: type) -> Iterator[str]:
    if is_dataclass(kind):
        for line in inspect.getsource(kind).splitlines():
            if found := FIELD.match(line):
                yield f"| `{found[1]}` | {_cell(found[2] or '')} |"


def _cell(*paragraphs: str) -> str:
    return " ".join(paragraphs).replace("|", "\\|")


def _paragraphs(what: Any) -> list[str]:
    """Return what a docstring says, without its examples."""
    paragraphs = (inspect.getdoc(what) or "").split("\n\n")
    return [" ".join(each.split()) for each in paragraphs if ">>>" not in each]


def _sentence(what: Any) -> str:
    return _cell(*_paragraphs(what)[:1])


if __name__ == "__main__":
    main()
