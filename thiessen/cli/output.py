"""What a command has found, in the form that was asked for."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thiessen.terminal import hand_over, say

if TYPE_CHECKING:
    from rich.console import RenderableType


class Form(StrEnum):
    """How it is printed."""

    TABLE = "table"  # for people
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"


Output = Annotated[Form, typer.Option("--output", "-o", help="How it is printed.")]
Row = Mapping[str, Any]


def printed(rows: Sequence[Row] | Row, form: Form, table: Callable[[], "RenderableType"]) -> None:
    """Print rows, or one thing, for programs, or the table for people."""
    match form:
        case Form.TABLE:
            from thiessen.cli.tables import terminal

            told = table()
            say(told) if isinstance(told, str) else terminal().print(told)
        case Form.JSON:
            hand_over(json.dumps(rows, indent=2, default=str) + "\n")
        case Form.YAML:
            import yaml

            hand_over(yaml.safe_dump(json.loads(json.dumps(rows, default=str)), sort_keys=False))
        case Form.CSV:
            hand_over(_csv([rows] if isinstance(rows, Mapping) else rows))


def _csv(rows: Sequence[Row]) -> str:
    """Return a line for each row, with a column for what any of them has; what is nested is JSON."""
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    written = io.StringIO()
    lines = csv.DictWriter(written, columns, restval="", lineterminator="\n")
    lines.writeheader()
    lines.writerows(flat)
    return written.getvalue()


def _flat(row: Row) -> dict[str, Any]:
    """Return it with `config.lr` for what a mapping has inside."""
    flat: dict[str, Any] = {}
    for name, each in row.items():
        if isinstance(each, Mapping):
            flat |= {f"{name}.{inner}": value for inner, value in _flat(each).items()}
        else:
            flat[name] = json.dumps(each) if isinstance(each, list) else each
    return flat
