"""The calls of the HTTP interface."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """One call of the HTTP interface."""

    method: str
    path: str
    says: str
    example: str | None  # of its request
    statuses: list[str]


def read_calls(document: dict[str, Any]) -> list[Call]:
    """Return every call of an OpenAPI document, in its order."""
    return [
        Call(
            method.upper(),
            path,
            operation["description"],
            _example(document, operation),
            list(operation["responses"]),
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def _example(document: dict[str, Any], operation: dict[str, Any]) -> str | None:
    if "requestBody" not in operation:
        return None
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    first = schema.get("anyOf", [schema])[0]
    examples = document["components"]["schemas"][first["$ref"].rsplit("/", 1)[-1]]["examples"]
    return json.dumps(examples[0], indent=2)
