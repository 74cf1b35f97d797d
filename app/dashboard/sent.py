"""What a person sends with a form, and what is wrong with it in words, a field each.

A browser sends texts: what they stand for is decided where the form is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final
from urllib.parse import parse_qs

from fastapi import Depends, Request
from pydantic import ValidationError

from app.domain.errors import InvalidRequest
from thiessen.contract.words import NAME

MOST_FIELDS: Final = 4_000  # of a form: a space of 256 dimensions has 2,000
NAMED: Final = "Letters, digits, dot, underscore and hyphen; it begins with a letter or digit."
WORDS: Final[Mapping[str, str]] = {  # what pydantic finds, and what a person reads
    "missing": "This is needed.",
    "string_too_short": "This is needed.",
    "string_too_long": "At most {max_length} characters.",
    "int_type": "A whole number is needed.",
    "float_type": "A number is needed.",
    "finite_number": "A finite number is needed.",
    "greater_than_equal": "At least {ge}.",
    "greater_than": "Above {gt}.",
    "less_than_equal": "At most {le}.",
    "less_than": "Below {lt}.",
    "too_short": "At least {min_length} is needed.",
    "too_long": "At most {max_length}.",
    "literal_error": "One of {expected}.",
}


@dataclass(frozen=True)
class Form:
    """The texts of a form, by the names of its fields."""

    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def one(self, name: str, usual: str = "") -> str:
        """Return the text of a field, without spaces around it."""
        return self.typed(name, usual).strip()

    def typed(self, name: str, usual: str = "") -> str:
        """Return the text of a field as it was typed."""
        return self.texts.get(name, [usual])[0]

    def all(self, name: str) -> Sequence[str]:
        """Return what is chosen in a field that may have several."""
        return self.texts.get(name, [])


@dataclass(frozen=True)
class Fault:
    """What is wrong with a field."""

    field: str  # its id in the page
    says: str
    label: str = ""  # what a person knows it by


async def _form(request: Request) -> Form:
    try:
        text = (await request.body()).decode()
        found = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:  # of either: not UTF-8, or very many fields
        raise InvalidRequest(
            f"The form cannot be read: it is UTF-8, with at most {MOST_FIELDS:,} fields."
        ) from None
    return Form({name: [each.replace("\r\n", "\n") for each in values] for name, values in found.items()})


TheForm = Annotated[Form, Depends(_form)]
"""A route that asks for it gets what was sent."""


def faults(error: ValidationError) -> list[Fault]:
    """Return what is wrong, each at the field of the same name."""
    return [
        Fault(name, in_words(fault), label=name.replace("_", " ").capitalize())
        for fault in error.errors()
        for name in [str(fault["loc"][0])]
    ]


def in_words(fault: Any) -> str:
    """Return what pydantic found as a person reads it."""
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "string_pattern_mismatch" and context["pattern"] == NAME:
        return NAMED
    if kind in WORDS:
        return WORDS[kind].format(**context)
    said = str(fault["msg"]).removeprefix("Value error, ")
    return f"{said[:1].upper()}{said[1:].rstrip('.')}."


def by_field(found: Iterable[Fault]) -> dict[str, str]:
    """Return them by field, the first of each."""
    first: dict[str, str] = {}
    for fault in found:
        first.setdefault(fault.field, fault.says)
    return first


def number(text: str) -> Any:
    """Return the number that a text stands for, None if it is empty; else the text, which is then refused."""
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
