"""What of a document is wrong, in words: where it is, what belongs there, and what was there instead."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from pydantic import ValidationError

from thiessen.spelling import nearest

MOST_NAMED: Final = 5
LONGEST: Final = 100  # characters of what was there
KINDS: Final[Mapping[str, str]] = {  # as pydantic calls the alternatives of one value
    "bool": "true or false",
    "int": "an integer",
    "float": "a number",
    "constrained-str": "a text",
}
WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "dict_type": "is a table of names and values",
    "model_type": "is a table of names and values",
    "model_attributes_type": "is a table of names and values",
    "list_type": "is a list",
    "bool_type": "is true or false",
    "bool_parsing": "is true or false",
    "int_type": "is an integer",
    "int_parsing": "is an integer",
    "int_from_float": "is an integer",
    "float_type": "is a number",
    "float_parsing": "is a number",
    "finite_number": "is a finite number",
    "string_type": "is a text",
    "literal_error": "is {expected}",
    "greater_than_equal": "is at least {ge}",
    "greater_than": "is above {gt}",
    "less_than_equal": "is at most {le}",
    "less_than": "is below {lt}",
    "string_too_long": "has at most {max_length} characters",
    "too_short": "has at least {min_length} item{plural}",
    "too_long": "has at most {max_length} item{plural}",
    "union_tag_not_found": "has no {discriminator}, which says what else there is",
}
Place = Sequence[str | int]
Schema = Mapping[str, Any]


def faults(error: ValidationError, schema: Schema | None = None) -> str:
    """Return the first of them, each with where it is; with a JSON Schema, near names of wrong ones too."""
    return "; ".join(
        f"{'.'.join(str(part) for part in place) or 'the document'}: {said}"
        for place, said in named(error.errors(), schema)[:MOST_NAMED]
    )


def named(found: Sequence[Any], schema: Schema | None = None) -> list[tuple[Place, str]]:
    """Return each place where something is wrong, and what; the alternatives of one value are one fault."""
    told: list[tuple[Place, str]] = []
    for place, group in groupby(found, key=_of_what):
        these = list(group)
        if these[0]["loc"] == place:
            told += [(place, _in_words(fault, schema)) for fault in these]
        else:
            kinds = [str(fault["loc"][-1]) for fault in these]
            words = [KINDS[kind] for kind in kinds if kind != "int" or "float" not in kinds]
            told.append((place, f"is {' or '.join(words)}{_got(these[0])}"))
    return told


def _of_what(fault: Any) -> Place:
    """Return the place of a value, without which of its alternatives a fault is of."""
    place: Place = fault["loc"]
    is_alternative = len(place) > 1 and place[-1] in KINDS and fault["type"] in WORDS
    return place[:-1] if is_alternative and fault["type"] != "missing" else place


def _in_words(fault: Any, schema: Schema | None) -> str:
    """Return what is wrong with one value, and what would be right."""
    kind, told = fault["type"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        known = [] if schema is None else _names(schema, fault["loc"][:-1])
        return "is no field here" + (f"; {nearest(str(fault['loc'][-1]), known)}" if known else "")
    if kind == "union_tag_invalid":
        known = [each.strip().strip("'") for each in told["expected_tags"].split(",")]
        return f"has no {told['discriminator']} called {told['tag']!r}; {nearest(told['tag'], known)}"
    if kind in WORDS:
        plural = "" if 1 in {told.get("min_length"), told.get("max_length")} else "s"
        return WORDS[kind].format(**told, plural=plural) + (
            "" if kind in {"missing", "string_too_long"} else _got(fault)
        )
    return str(fault["msg"]).removeprefix("Value error, ")


def _got(fault: Any) -> str:
    """Say what was there, where it is a single value."""
    sent = fault.get("input", {})
    if isinstance(sent, dict | list) or not isinstance(sent, str | int | float | None):
        return ""
    return f"; got {json.dumps(sent, ensure_ascii=False)[:LONGEST]}"


def _names(schema: Schema, place: Place) -> list[str]:
    """Return what may stand at a place, by the JSON Schema of the document."""
    nodes = list(_alternatives(schema, schema))
    for part in place:
        inner = [each for node in nodes for each in _inside(node, part)]
        if inner:
            nodes = [each for node in inner for each in _alternatives(node, schema)]
        else:  # the name of one of the alternatives
            nodes = [node for node in nodes if _is_called(node, part)] or nodes
    return sorted({name for node in nodes for name in node.get("properties", {})})


def _alternatives(node: Schema, schema: Schema) -> Iterator[Schema]:
    """Yield what a node of a schema stands for."""
    if "$ref" in node:
        yield from _alternatives(schema["$defs"][node["$ref"].rpartition("/")[2]], schema)
    for each in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _alternatives(each, schema)
    yield node


def _inside(node: Schema, part: str | int) -> Iterator[Schema]:
    inner = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part)
    inner = inner if inner is not None or isinstance(part, int) else node.get("additionalProperties")
    if isinstance(inner, Mapping):
        yield inner


def _is_called(node: Schema, name: str | int) -> bool:
    return any(each.get("const") == name for each in node.get("properties", {}).values())
