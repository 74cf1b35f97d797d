"""Strategies as JSON: a name, or an object with the name and its settings.

The settings of a strategy are the fields of its dataclass. What each may be is read from its type: a number,
a boolean, a string, a literal, a mapping, None, a union of these, or a choice. A choice is another dataclass
that goes by a name; its type says which there are: `acceptance: Annotated[Acceptance, ACCEPTANCES]`.
"""

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from thiessen.search import STRATEGIES
from thiessen.search.strategy import Strategy, StrategyError
from thiessen.space import LARGEST_FLOAT, LARGEST_INT

Register = Mapping[str, Strategy]

_SIMPLE: Final[dict[Any, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "a string",
    NoneType: "null",
}


def strategy_from_json(document: str | Mapping[str, Any], known: Register = STRATEGIES) -> Strategy:
    """Return the strategy of a name, or of an object with its name and settings. Raises StrategyError.

    A setting that is not given is that of the preset, or else the usual one.
    """
    settings = {"name": document} if isinstance(document, str) else dict(document)
    name = _one_of(known, settings.pop("name", None), "its name")
    start = known[name]
    version = settings.pop("version", start.version)
    if type(version) is not int or version != start.version:
        raise StrategyError(
            f"{name}.version is {start.version} here; got {reprlib.repr(version)}. Leave it out, or use the "
            "Thiessen that has it."
        )
    if "preset" in settings:
        start = start.presets[_one_of(start.presets, settings.pop("preset"), f"{name}.preset")]
    strategy: Strategy = _made(type(start), settings, name, start=start)
    return strategy


def strategy_to_json(strategy: Strategy) -> dict[str, Any]:
    """Return the canonical form: name, version and every setting. `strategy_from_json` reads it back."""
    return {"name": strategy.name, "version": strategy.version} | _written(strategy)


def in_words(document: Mapping[str, Any], known: Register = STRATEGIES) -> str:
    """Return the name of a strategy given in canonical form, and the settings that are not the usual ones."""
    name = document["name"]
    usual = strategy_to_json(known[name]) if name in known else {}
    unusual = {key: value for key, value in document.items() if key not in usual or usual[key] != value}
    return _short({"name": name} | unusual)


def _made(kind: Any, settings: Mapping[str, Any], place: str, start: Any = None) -> Any:
    """Return the dataclass with these settings; those not given are those of `start`, or their defaults."""
    kinds = _settings_of(kind)
    for setting in settings:
        if setting not in kinds:
            there = f"it has {_listed(kinds, 'and')}" if kinds else "it has none"
            raise StrategyError(f"{place} has no setting {_got(setting, kinds)}; {there}.")
    values = {
        setting: _read(kinds[setting], value, f"{place}.{setting}") for setting, value in settings.items()
    }
    if start is None:
        for field in fields(kind):
            if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
                raise StrategyError(f"{place}.{field.name} is missing: {_in_types(kinds[field.name])}.")
    try:
        return kind(**values) if start is None else replace(start, **values)
    except ValueError as error:
        raise StrategyError(f"{place}: {error}") from None


def _read(kind: Any, value: Any, place: str) -> Any:
    if not _fits(kind, value):
        known = get_args(kind) if get_origin(kind) is Literal else ()
        raise StrategyError(f"{place} is {_in_types(kind)}; got {_got(value, known)}.")
    if get_origin(kind) in {Union, UnionType}:
        return _read(next(member for member in get_args(kind) if _fits(member, value)), value, place)
    if get_origin(kind) is Annotated:
        return _chosen(kind.__metadata__[0], value, place)
    if isinstance(value, Mapping):
        _, inner = get_args(kind)
        return {key: _read(inner, each, f"{place}.{key}") for key, each in value.items()}
    return float(value) if kind is float else value


def _chosen(choices: Mapping[str, type[Any]], value: str | Mapping[str, Any], place: str) -> Any:
    settings = {"name": value} if isinstance(value, str) else dict(value)
    name = _one_of(choices, settings.pop("name", None), place)
    return _made(choices[name], settings, place)


def _fits(kind: Any, value: Any) -> bool:
    """Return whether this kind is the right one for a value, whatever is inside of the value."""
    if get_origin(kind) in {Union, UnionType}:
        return any(_fits(member, value) for member in get_args(kind))
    if get_origin(kind) is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(kind))
    if get_origin(kind) is Annotated:
        return isinstance(value, str | Mapping)
    if kind is int:
        return type(value) is int and abs(value) <= LARGEST_INT
    if kind is float:
        return type(value) in {int, float} and abs(value) <= LARGEST_FLOAT
    return isinstance(value, kind if kind in _SIMPLE else Mapping)


def _in_types(kind: Any) -> str:
    """Say what a value of this type may be."""
    if get_origin(kind) in {Union, UnionType}:
        return " or ".join(map(_in_types, get_args(kind)))
    if get_origin(kind) is Literal:
        return _listed(get_args(kind))
    if get_origin(kind) is Annotated:
        return _listed(kind.__metadata__[0])
    return _SIMPLE[kind] if kind in _SIMPLE else f"an object with {_in_types(get_args(kind)[1])} by name"


@cache
def _settings_of(kind: Any) -> Mapping[str, Any]:
    types = get_type_hints(kind, include_extras=True)
    return MappingProxyType({field.name: types[field.name] for field in fields(kind)})


def _written(settled: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(settled, field.name)) for field in fields(settled)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {"name": getattr(value, "name")} | _written(value)  # noqa: B009 - not every dataclass has one
    return dict(value) if isinstance(value, Mapping) else value


def _one_of(known: Mapping[str, Any], value: Any, place: str) -> str:
    if isinstance(value, str) and value in known:
        return value
    there = _listed(known) if known else "not to be given, as there are none"
    raise StrategyError(f"{place} is {there}; got {_got(value, known)}.")


def _listed(names: Iterable[Any], joint: str = "or") -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} {joint} {last}" if others else last


def _got(value: Any, known: Iterable[Any]) -> str:
    near = get_close_matches(value, list(known), n=1) if isinstance(value, str) else []
    return reprlib.repr(value) + (f" (did you mean {near[0]!r}?)" if near else "")


def _short(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "none" if value is None else str(value)
    settings = ", ".join(f"{key} {_short(each)}" for key, each in value.items() if key != "name")
    name = value.get("name", "")
    return f"{name} ({settings})" if name and settings else f"{name}{settings}"
