"""What a task accepts, and whether a study's space stays within it."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from thiessen.space import Dimension, Float, Scalar, Space
from thiessen.spelling import nearest

MOST_VALUES: Final = 10_000  # of a dimension, looked at one by one
KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
WORDS: Final[Mapping[str, str]] = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
}
LIMITS: Final[Mapping[str, tuple[str, Callable[[float, float], bool]]]] = {
    "minimum": ("at least", operator.ge),
    "exclusiveMinimum": ("above", operator.gt),
    "maximum": ("at most", operator.le),
    "exclusiveMaximum": ("below", operator.lt),
}


@dataclass(frozen=True)
class Setting:
    """What the schema of a task says of one name; what else it may say is up to the task itself."""

    kinds: Sequence[str]  # none: any
    choices: Sequence[Scalar] | None  # None: any
    limits: Mapping[str, float]

    @classmethod
    def of(cls, schema: object) -> Self:
        """Return what is understood of the schema of a value."""
        told = _mapping(schema)
        kinds = told.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        choices = told.get("enum")
        return cls(
            kinds=[kind for kind in kinds if isinstance(kind, str) and kind in KINDS],
            choices=choices if isinstance(choices, list) else None,
            limits={word: told[word] for word in LIMITS if isinstance(told.get(word), int | float)},
        )

    def __str__(self) -> str:
        if self.choices is not None:
            return f"one of {', '.join(repr(choice)[:100] for choice in self.choices[:20])}"
        limits = " and ".join(f"{LIMITS[word][0]} {limit}" for word, limit in self.limits.items())
        return " ".join(
            [" or ".join(WORDS.get(kind, kind) for kind in self.kinds) or "anything", limits]
        ).rstrip()

    def accepts(self, value: Scalar) -> bool:
        """Return whether a config may have this value."""
        if self.kinds and not any(_is(kind, value) for kind in self.kinds):
            return False
        if self.choices is not None and not any(_alike(choice, value) for choice in self.choices):
            return False
        if value is None or isinstance(value, bool | str):
            return True
        return all(LIMITS[word][1](value, limit) for word, limit in self.limits.items())

    def fault(self, dimension: Dimension) -> str | None:
        """Say why a dimension has values that a config may not have, or return None."""
        if dimension.values() is None and (self.choices is not None or self.kinds == ["integer"]):
            return f"it is {self}, and a float has all numbers between; use an int or choices"
        for value in self._telling(dimension):
            if not self.accepts(value):
                return f"it is {self}, and {value!r} is not; narrow it"
        return None

    def _telling(self, dimension: Dimension) -> Iterator[Scalar]:
        """Yield the values of a dimension that speak for all: each choice, or both ends of numbers."""
        values = dimension.values()
        if isinstance(dimension, Float):
            yield from (float(dimension.low), float(dimension.high))
        elif isinstance(values, range) and (self.choices is None or len(values) > MOST_VALUES):
            yield from (values[0], values[-1])
        else:
            yield from values or ()


def faults(space: Space, schema: Mapping[str, Any]) -> list[str]:
    """Say of each dimension why configs of the task cannot have it; nothing of those that they can."""
    settings = _mapping(schema.get("properties"))
    found = []
    for name, dimension in space.dimensions.items():
        if name in settings:
            if fault := Setting.of(settings[name]).fault(dimension):
                found.append(f"dimension {name!r}: {fault}")
        elif schema.get("additionalProperties") is False:
            found.append(f"dimension {name!r} is no setting of it; {nearest(name, list(settings))}")
    return found


def _mapping(told: object) -> Mapping[str, Any]:
    """Return an object of JSON; an empty one in the place of anything else."""
    return told if isinstance(told, Mapping) else {}


def _is(kind: str, value: Scalar) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _alike(choice: Scalar, value: Scalar) -> bool:
    return choice == value and isinstance(choice, bool) == isinstance(value, bool)
