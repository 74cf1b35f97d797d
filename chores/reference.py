"""Writes the calls in docs/reference/http.md out of the OpenAPI document, between two markers.

Each call once: those on the studies of a named project, and on Optuna's there, are the same as without it.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from app.gate import MORE
from app.main import build
from app.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "http.md"
BEGIN, END = "<!-- calls: written by `make reference` out of the code -->\n", "<!-- end of calls -->\n"
ALWAYS = {"401", "403", "429"}
SAME = (
    "/api/v1/projects/{project}/studies",
    "/api/v1/projects/{project}/comparisons",
    "/api/v1/projects/{project}/compare",
    "/api/v1/projects/{project}/profile",
    "/api/v1/projects/{project}/optuna",
)


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(written(PAGE.read_text()))


def written(page: str) -> str:
    """Return the page with the calls as they are in the code."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + calls(_document()) + END + rest.split(END)[1]


def calls(document: dict[str, Any]) -> str:
    """Return the calls of an OpenAPI document as a table, and the examples of what to send below it."""
    called = [
        (f"{method.upper()} {path}", operation)
        for path, operations in document["paths"].items()
        if not path.startswith(SAME)
        for method, operation in operations.items()
    ]
    rows = [
        f"| `{name}` | {operation['description']} | {scope(operation)} | {', '.join(statuses(operation))} |"
        for name, operation in called
    ]
    examples = [
        f"`{name}`:\n\n```json\n{json.dumps(example, ensure_ascii=False)}\n```\n"
        for name, operation in called
        for example in examples_of(document, operation)
    ]
    head = ["| call | does | scope | answers |", "|---|---|---|---|"]
    return "\n".join(["", *head, *rows, "", "What to send, for example:", "", *examples, ""])


def scope(operation: dict[str, Any]) -> str:
    """Return the scope that a token needs, and which a part of the call needs beside it."""
    [needed] = operation["security"]
    names = [f"`{name}`" for names in needed.values() for name in names]
    more = [
        f"with `{each['name']}` also `{each['schema'][MORE]}`"
        for each in operation.get("parameters", [])
        if MORE in each["schema"]
    ]
    return ", ".join(names + more)


def statuses(operation: dict[str, Any]) -> list[str]:
    """Return the statuses that not every call has."""
    return sorted(set(operation["responses"]) - ALWAYS)


def examples_of(document: dict[str, Any], operation: dict[str, Any]) -> list[Any]:
    """Return the examples of a call's body."""
    if "requestBody" not in operation:
        return []
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return [
        example
        for kind in schema.get("anyOf", [schema])
        for example in document["components"]["schemas"][kind["$ref"].rsplit("/", 1)[-1]]["examples"]
    ]


def _document() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        app = build(Settings(database=f"sqlite:///{folder}/unused.db"))
        app.state.house.store.close()
        return app.openapi()


if __name__ == "__main__":
    main()
