"""Dimensions as they are written on a command line: float(1e-5,1,log), int(1,8) when opt=sgd.

    dimension   kind ( items ) [ when condition { and condition } ]
    items       float: low, high [, log]        int: low, high [, step] [, log]
                choice, ordinal: value, ...     boolean, flag: none
    condition   name = value { | value }
    value       JSON, else text as it stands; in double quotes it may hold anything

Nothing is evaluated. What is wrong ends the command with the argument, and how it is to be written.
"""

import json
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from thiessen.cli.failure import CommandFailed
from thiessen.space import Boolean, Categorical, Dimension, Float, Int, Ordinal, Scalar

FLAG: Final = "flag"  # a boolean that stands on the command line when it is true, and else does not
ALIKE: Final = 0.8  # of a word and a kind: it was mistyped
_BEGINNING: Final = re.compile(r"\s*([A-Za-z]\w*)\s*\(")
_PIECES: Final = re.compile(r'"(?:[^"\\]|\\.)*"|.', re.DOTALL)  # a quoted text, or a character


def is_meant(text: str) -> bool:
    """Return whether this is a dimension, or one that is mistyped."""
    found = _BEGINNING.match(text)
    return found is not None and bool(get_close_matches(found[1].lower(), KINDS, n=1, cutoff=ALIKE))


def is_flag(text: str) -> bool:
    """Return whether this is a flag."""
    found = _BEGINNING.match(text)
    return found is not None and found[1] == FLAG


def read(name: str, text: str) -> Dimension:
    """Return the dimension that is written there. Raises CommandFailed."""
    kind, inside, rest = _taken_apart(name, text)
    items = _split(inside, ",") if inside.strip() else []
    when = _conditions(name, text, rest) if rest else None
    return KINDS[kind][0](name, text, items, when)


def value(text: str) -> Scalar:
    """Return what a text stands for: JSON where it is, else the text."""
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(found, list | dict) else found


def written(value: Scalar) -> str:
    """Return a value as programs are given it."""
    return value if isinstance(value, str) else json.dumps(value)


def spelled(dimension: Dimension) -> str:
    """Return a dimension without conditions as it is written; `read` gives it back."""
    log = ",log" if isinstance(dimension, Float | Int) and dimension.log else ""
    match dimension:
        case Float():
            return f"float({dimension.low!r},{dimension.high!r}{log})"
        case Int():
            step = f",{dimension.step}" if dimension.step != 1 else ""
            return f"int({dimension.low},{dimension.high}{step}{log})"
        case Boolean():
            return "boolean()"
        case _:
            kind = "ordinal" if isinstance(dimension, Ordinal) else "choice"
            return f"{kind}({','.join(map(_quoted, dimension.values() or ()))})"


def _quoted(choice: Scalar) -> str:
    """Return a choice as `value` reads it: as it stands where it is a word, else as JSON."""
    is_word = (
        isinstance(choice, str) and re.fullmatch(r"[A-Za-z_][\w.-]*", choice) and value(choice) == choice
    )
    return str(choice) if is_word else json.dumps(choice)


def _taken_apart(name: str, text: str) -> tuple[str, str, str]:
    """Return its kind, what its parentheses hold, and what comes after `when`."""
    beginning = _BEGINNING.match(text)
    if beginning is None:
        _refuse(name, text, "is no dimension", "float")
    kind = beginning[1]
    if kind not in KINDS:
        near = get_close_matches(kind.lower(), KINDS, n=1, cutoff=0.0)
        _refuse(name, text, f"has no known kind: there are {', '.join(KINDS)}", near[0])
    depth = 0
    for piece in _PIECES.finditer(text, beginning.end() - 1):
        depth += _deeper(piece[0])
        if depth == 0:
            break
    else:
        _refuse(name, text, "is not closed by a parenthesis", kind)
    rest = re.fullmatch(r"\s*(?:\swhen\s+(.+))?\s*", text[piece.end() :], re.DOTALL)
    if rest is None:
        _refuse(name, text, "goes on after its parenthesis", kind)
    return kind, text[beginning.end() : piece.start()], rest[1] or ""


def _conditions(name: str, text: str, rest: str) -> dict[str, list[Scalar]]:
    when = {}
    for condition in re.split(r"\s+and\s+", rest):
        parent, equals, values = condition.partition("=")
        if not equals or not parent.strip():
            _refuse(name, text, f"has the condition {condition.strip()!r}, without name=value", "when")
        when[parent.strip()] = [value(each) for each in _split(values, "|")]
    return when


def _float(name: str, text: str, items: Sequence[str], when: Any) -> Dimension:
    numbers, is_log = _scale(items)
    if len(numbers) != 2:
        _refuse(name, text, "has no two bounds", "float")
    low, high = (_number(float, name, text, each) for each in numbers)
    return Float(low, high, log=is_log, when=when)


def _int(name: str, text: str, items: Sequence[str], when: Any) -> Dimension:
    numbers, is_log = _scale(items)
    if len(numbers) not in {2, 3}:
        _refuse(name, text, "has no two bounds", "int")
    low, high, step = (_number(int, name, text, each) for each in [*numbers, "1"][:3])
    return Int(low, high, step, log=is_log, when=when)


def _choice(name: str, text: str, items: Sequence[str], when: Any) -> Dimension:
    return Categorical(_choices(name, text, items, "choice"), when=when)


def _ordinal(name: str, text: str, items: Sequence[str], when: Any) -> Dimension:
    return Ordinal(_choices(name, text, items, "ordinal"), when=when)


def _boolean(name: str, text: str, items: Sequence[str], when: Any) -> Dimension:
    if items:
        _refuse(name, text, "takes nothing in its parentheses", "boolean")
    return Boolean(when=when)


def _choices(name: str, text: str, items: Sequence[str], kind: str) -> list[Scalar]:
    if not all(items) or not items:
        _refuse(name, text, "lacks a value", kind)
    return [value(each) for each in items]


def _scale(items: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Return the numbers, and whether their scale is logarithmic."""
    return (items[:-1], True) if items and items[-1] == "log" else (items, False)


def _number(kind: type[int | float], name: str, text: str, item: str) -> Any:
    try:
        return kind(item)
    except ValueError:
        _refuse(name, text, f"has {item!r} where {_WANTED[kind.__name__]} is wanted", kind.__name__)


def _split(text: str, separator: str) -> list[str]:
    """Return the parts between the separators that are in no quotes and in no parentheses."""
    parts, depth = [""], 0
    for piece in _PIECES.findall(text):
        depth += _deeper(piece)
        if piece == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts]


def _deeper(piece: str) -> int:
    return {"(": 1, ")": -1}.get(piece, 0)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse(name: str, text: str, why: str, kind: str) -> NoReturn:
    example = {kind: example for kind, (_, example) in KINDS.items()}.get(
        kind, "float(0,1) when opt=sgd|adam"
    )
    raise CommandFailed(f"{name}: {text!r} {why}. Write it as in {name} '{example}'.")


_WANTED: Final = {"int": "an integer", "float": "a number"}

KINDS: Final[dict[str, tuple[Callable[[str, str, Sequence[str], Any], Dimension], str]]] = {
    "float": (_float, "float(1e-5,1,log)"),
    "int": (_int, "int(1,8)"),
    "choice": (_choice, "choice(sgd,adam)"),
    "ordinal": (_ordinal, "ordinal(small,medium,large)"),
    "boolean": (_boolean, "boolean()"),
    FLAG: (_boolean, "flag()"),
}
"""Each with what reads it, and an example."""
