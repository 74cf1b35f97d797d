"""Writes into docs/reference/capabilities.md which tests show each row, as their marks `row(number)` say.

The marks are read in the text of the tests, so that this takes a second; `make rows` runs them.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

HOUSE: Final = Path(__file__).parents[1]
PAGE: Final = HOUSE / "docs" / "reference" / "capabilities.md"
BEGIN, END = "<!-- tests: written by `make reference` out of their marks -->\n", "<!-- end of tests -->\n"
ROW: Final = re.compile(r"^\| (\d+) \| (.+) \|.*\|$", re.MULTILINE)

Shown = Mapping[int, Mapping[str, Sequence[str]]]
"""For each row the names of its tests, by their files."""


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(written(PAGE.read_text(), shown(HOUSE)))


def written(page: str, shown: Shown) -> str:
    """Return the page with the tests of each row: their files beside it, their names at the end."""
    page = ROW.sub(lambda row: f"| {row[1]} | {row[2]} | {', '.join(shown.get(int(row[1]), ()))} |", page)
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n".join(["", *_names(shown), ""]) + END + rest.split(END)[1]


def listed(page: str) -> list[int]:
    """Return the rows of the page in their order."""
    return [int(row[1]) for row in ROW.finditer(page)]


def shown(house: Path) -> Shown:
    """Return which tests of a house say that they show which rows."""
    rows: dict[int, dict[str, list[str]]] = defaultdict(dict)
    for path in sorted(house.glob("tests/**/test_*.py")):
        name = str(path.relative_to(house))
        for test, numbers in _marked(ast.parse(path.read_text())):
            for number in numbers:
                rows[number].setdefault(name, []).append(test)
    return dict(sorted(rows.items()))


def _names(shown: Shown) -> Iterator[str]:
    for row, files in shown.items():
        each = (f"`{file}`: {', '.join(f'`{test}`' for test in tests)}" for file, tests in files.items())
        yield f"- **{row}** {'; '.join(each)}"


def _marked(module: ast.Module) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the tests of a module with the rows in their decorators, or in values of the module."""
    values = {
        target.id: statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    of_all = [values["pytestmark"]] if "pytestmark" in values else []
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_"):
            places = [*statement.decorator_list, *of_all]
            if numbers := sorted({number for place in places for number in _numbers(place, values)}):
                yield statement.name, numbers


def _numbers(place: ast.expr, values: Mapping[str, ast.expr]) -> Iterator[int]:
    for node in ast.walk(place):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.row":
            yield from map(ast.literal_eval, node.args)
        elif isinstance(node, ast.Name) and node.id in values and values[node.id] is not place:
            yield from _numbers(values[node.id], values)


if __name__ == "__main__":
    main()
