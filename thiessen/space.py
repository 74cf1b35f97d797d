"""The space a study searches: dimensions, their scales and conditions, and the unit cube they map to.

A config is a point of the space: a mapping from the names of the active dimensions to plain JSON values.
"""

import hashlib
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from math import gcd
from typing import Any, ClassVar, Final, Literal, Protocol, Self

from thiessen.numbers import exp, log

Scalar = str | int | float | bool | None
Config = dict[str, Scalar]
When = Mapping[str, Sequence[Scalar]]

SIGNIFICANT_DIGITS: Final = 12  # of a proposed float: short enough to read aloud, exact enough to train with
_ROUNDED: Final = f".{SIGNIFICANT_DIGITS}g"
MAX_DIMENSIONS: Final = 256
MAX_CHOICES: Final = 10_000
MOST_NAMED: Final = 10  # choices in one error
LONGEST_NAME: Final = 100  # of a dimension of an open space
Open = Literal["open"]
OPEN: Final[Open] = "open"  # a space that declares nothing: what its trials ask for makes it
LARGEST_INT: Final = 2**53  # beyond it JSON readers silently round
LARGEST_FLOAT: Final = sys.float_info.max


class SpaceError(ValueError):
    """A space or a config that cannot be searched; the message names the dimension and the cure."""


class Dimension(Protocol):
    """One axis of a space. Every draw spends exactly one uniform number, whatever the kind."""

    ordered: ClassVar[bool]  # whether its coordinates can be near each other, or only equal and different

    @property
    def when(self) -> When | None:
        """The condition under which it is active: values of other dimensions."""

    def check(self, name: str) -> None:
        """Raise SpaceError when the declaration makes no sense."""

    def decode(self, unit: float) -> Scalar:
        """Return the value at `unit` in [0, 1); uniform numbers give values uniform on the scale."""

    def encode(self, value: Scalar) -> float:
        """Return the coordinate of a value: in [0, 1] for numbers, the code of a categorical choice."""

    def code(self, value: Scalar) -> float:
        """Return the number that stands for a value: a number itself, the place of a choice among all."""

    def refusal(self, value: Scalar) -> str | None:
        """Say why `value` is not one of this dimension's values, or return None."""

    def values(self) -> Sequence[Scalar] | None:
        """Return every value, or None when there is a continuum of them."""

    def canonical(self) -> Self:
        """Return the one way to write this dimension, whatever its condition."""

    def holding(self, other: Any) -> Self | None:
        """Return it wide enough for the values of another of its kind; None where scale or choices differ."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values."""


@dataclass(frozen=True)
class Float:
    """A real number in [low, high], uniform on its linear or logarithmic scale."""

    low: float  # the smallest value
    high: float  # the largest value
    log: bool = False  # whether equal factors are equally likely, not equal distances
    when: When | None = field(default=None, kw_only=True)  # the values of others with which it is active
    ordered: ClassVar[bool] = True

    def check(self, name: str) -> None:
        _check_bounds(name, self.low, self.high, log=self.log)

    def decode(self, unit: float) -> float:
        low, width = self.scale
        position = low + unit * width
        value = exp(position) if self.log else position
        return float(min(max(float(format(value, _ROUNDED)), self.low), self.high))

    def encode(self, value: Scalar) -> float:
        low, width = self.scale
        return (self._scaled(_number(value)) - low) / width if width > 0 else 0.0

    def code(self, value: Scalar) -> float:
        return float(_number(value))

    def refusal(self, value: Scalar) -> str | None:
        if not _is_number(value) or not float(self.low) <= _number(value) <= float(self.high):
            return f"it must be a number in [{self.low}, {self.high}]"
        return None

    def values(self) -> Sequence[Scalar] | None:
        return (self.decode(0.0),) if self.low == self.high else None

    def canonical(self) -> Self:
        return replace(self, low=float(self.low) + 0.0, high=float(self.high) + 0.0)  # -0.0 becomes 0.0

    def holding(self, other: "Float") -> Self | None:
        if self.log != other.log:
            return None
        return replace(self, low=min(self.low, other.low), high=max(self.high, other.high))

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": float(self.low), "maximum": float(self.high)}

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Where the scale begins, and its width."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        return low, high - low

    def _scaled(self, value: float) -> float:
        return log(value) if self.log else value


@dataclass(frozen=True)
class Int:
    """An integer low, low + step, ... up to high; each owns an equal bin of the (logarithmic) scale."""

    low: int  # the smallest value
    high: int  # no value is larger
    step: int = 1  # from each value to the next
    log: bool = False  # whether equal factors are equally likely, not equal distances
    when: When | None = field(default=None, kw_only=True)  # the values of others with which it is active
    ordered: ClassVar[bool] = True

    def check(self, name: str) -> None:
        if not all(type(number) is int for number in (self.low, self.high, self.step)):
            raise SpaceError(f"dimension {name!r}: low, high and step of an int are integers; use a float.")
        _check_bounds(name, self.low, self.high, log=self.log)
        if max(abs(self.low), abs(self.high)) > LARGEST_INT:
            raise SpaceError(f"dimension {name!r}: integers beyond 2**53 are rounded by JSON; rescale it.")
        if self.step < 1 or (self.log and self.step != 1):
            raise SpaceError(
                f"dimension {name!r}: step is at least 1, and exactly 1 on a log scale; got {self.step}."
            )

    def decode(self, unit: float) -> int:
        if self.log:
            low, high = self.ends
            index = math.floor(exp(low + unit * (high - low)) + 0.5) - self.low
        else:
            index = math.floor(unit * self.count)
        return self.low + self.step * min(max(index, 0), self.count - 1)

    def encode(self, value: Scalar) -> float:
        if self.log:
            low, high = self.ends
            centre = (log(_number(value) - 0.5) + log(_number(value) + 0.5)) / 2
            return (centre - low) / (high - low)
        return ((_number(value) - self.low) / self.step + 0.5) / self.count  # the centre of its bin

    def code(self, value: Scalar) -> float:
        return float(_number(value))

    def refusal(self, value: Scalar) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            if (value - self.low) % self.step == 0:
                return None
            return f"it must be {self.low} plus a multiple of {self.step}"
        return f"it must be an integer in [{self.low}, {self.high}]"

    def values(self) -> Sequence[Scalar]:
        return range(self.low, self.high + 1, self.step)

    def canonical(self) -> Self:
        return replace(self, high=self.last, step=self.step if self.last > self.low else 1)

    def holding(self, other: "Int") -> Self | None:
        if self.log != other.log:
            return None
        low, high = min(self.low, other.low), max(self.last, other.last)
        steps = [each.step for each in (self, other) if each.count > 1]
        return replace(self, low=low, high=high, step=gcd(self.low - other.low, *steps) or 1)

    def schema(self) -> dict[str, Any]:
        offset = self.low % self.step
        if offset and self.count <= MAX_CHOICES:
            return {"enum": list(self.values())}
        bounds: dict[str, Any] = {"type": "integer", "minimum": self.low, "maximum": self.high}
        if offset:  # no keyword says so
            return bounds | {"description": f"{self.low} plus a multiple of {self.step}"}
        return bounds | ({"multipleOf": self.step} if self.step > 1 else {})

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Where the logarithmic scale begins and ends: half a step beyond the bounds."""
        return log(self.low - 0.5), log(self.high + 0.5)

    @property
    def last(self) -> int:
        """The largest value."""
        return self.low + self.step * (self.count - 1)

    @property
    def count(self) -> int:
        """How many values there are."""
        return (self.high - self.low) // self.step + 1


@dataclass(frozen=True)
class Categorical:
    """One of several choices without an order; two different ones are as far apart as a whole range."""

    choices: Sequence[Scalar]  # texts, numbers or booleans
    when: When | None = field(default=None, kw_only=True)  # the values of others with which it is active
    ordered: ClassVar[bool] = False

    def check(self, name: str) -> None:
        _check_choices(name, self.choices)

    def decode(self, unit: float) -> Scalar:
        return _choice_at(self.choices, unit)

    def encode(self, value: Scalar) -> float:
        return self.code(value)

    def code(self, value: Scalar) -> float:
        return float(self._codes[_key(value)])

    def refusal(self, value: Scalar) -> str | None:
        return None if _key(value) in self._codes else _not_a_choice(self.choices)

    def values(self) -> Sequence[Scalar]:
        return self.choices

    def canonical(self) -> Self:
        return replace(self, choices=_unordered(self.choices))

    def holding(self, other: "Categorical") -> Self | None:
        return self if self.canonical().choices == other.canonical().choices else None

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return _codes(self.choices)


@dataclass(frozen=True)
class Ordinal:
    """One of several choices in an order that matters: an int over their indices."""

    choices: Sequence[Scalar]  # texts, numbers or booleans
    when: When | None = field(default=None, kw_only=True)  # the values of others with which it is active
    ordered: ClassVar[bool] = True

    def check(self, name: str) -> None:
        _check_choices(name, self.choices)

    def decode(self, unit: float) -> Scalar:
        return _choice_at(self.choices, unit)

    def encode(self, value: Scalar) -> float:
        return (self.code(value) + 0.5) / len(self.choices)  # the centre of its bin

    def code(self, value: Scalar) -> float:
        return float(self._codes[_key(value)])

    def refusal(self, value: Scalar) -> str | None:
        return None if _key(value) in self._codes else _not_a_choice(self.choices)

    def values(self) -> Sequence[Scalar]:
        return self.choices

    def canonical(self) -> Self:
        return self

    def holding(self, other: "Ordinal") -> Self | None:
        return self if _keys(self.choices) == _keys(other.choices) else None

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return _codes(self.choices)


@dataclass(frozen=True)
class Boolean:
    """False or true."""

    when: When | None = field(default=None, kw_only=True)  # the values of others with which it is active
    ordered: ClassVar[bool] = False

    def check(self, name: str) -> None:
        """Nothing can be wrong with it."""

    def decode(self, unit: float) -> bool:
        return unit >= 0.5

    def encode(self, value: Scalar) -> float:
        return self.code(value)

    def code(self, value: Scalar) -> float:
        return float(bool(value))

    def refusal(self, value: Scalar) -> str | None:
        return None if isinstance(value, bool) else "it must be true or false"

    def values(self) -> Sequence[Scalar]:
        return (False, True)

    def canonical(self) -> Self:
        return self

    def holding(self, other: "Boolean") -> Self | None:
        del other
        return self

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


KINDS: Final[dict[str, type[Any]]] = {
    "float": Float,
    "int": Int,
    "categorical": Categorical,
    "ordinal": Ordinal,
    "boolean": Boolean,
}


class Space:
    """Named dimensions in declared order. Raises SpaceError when they make no sense together.

    Equal spaces hold the same configs on the same scales, however they are written. The declared order, of
    the dimensions and of the choices of a categorical, decides only what each number of a stream turns into,
    and how configs are printed.

    >>> space = Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 4))
    >>> space.decode([0.5, 0.0])
    {'lr': 0.01, 'layers': 1}
    """

    is_open: ClassVar[bool] = False
    _fewest: ClassVar[int] = 1

    def __init__(self, /, **dimensions: Dimension) -> None:
        if not self._fewest <= len(dimensions) <= MAX_DIMENSIONS:
            raise SpaceError(
                f"a space has {self._fewest} to {MAX_DIMENSIONS} dimensions; this one has {len(dimensions)}."
            )
        self.dimensions: Final[Mapping[str, Dimension]] = dimensions
        for name, dimension in dimensions.items():
            if not isinstance(dimension, tuple(KINDS.values())):
                kinds = ", ".join(kind.__name__ for kind in KINDS.values())
                raise SpaceError(f"dimension {name!r}: declare it as one of {kinds}; got {dimension!r}.")
            dimension.check(name)
        for name, dimension in dimensions.items():
            self._check_condition(name, dimension)
        self.parents_first: Final = self._ordered()  # names: what a condition names comes before it
        self._conditional = any(dimension.when for dimension in dimensions.values())

    @classmethod
    def from_json(cls, document: Mapping[str, Mapping[str, Any]]) -> "Space":
        """Build a space from its JSON form. Raises SpaceError."""
        return cls(**_dimensions_from_json(document))

    @classmethod
    def declared(cls, declaration: Any) -> "Space":
        """Return the space of a declaration: a JSON form, or the word for an open one. Raises SpaceError."""
        return OpenSpace() if declaration == OPEN else cls.from_json(declaration)

    @property
    def declaration(self) -> dict[str, dict[str, Any]] | Open:
        """What was declared; `declared` reads it back."""
        return self.to_json()

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Return the JSON form; `from_json` reads it back."""
        return {name: dimension_to_json(dimension) for name, dimension in self.dimensions.items()}

    def canonical(self) -> dict[str, dict[str, Any]]:
        """Return the JSON form that equal spaces share; `from_json` reads it too.

        Names, categorical choices and the values of conditions are sorted, defaults are left out, and an int
        ends at its last value. A condition counts as written, even one that always holds: strategies measure
        distances along conditional dimensions differently.
        """
        return {name: _canonical_entry(self.dimensions[name]) for name in sorted(self.dimensions)}

    @cached_property
    def digest(self) -> str:
        """A short text that is the same for equal spaces and differs for others."""
        return hashlib.sha256(self._canonical_text.encode()).hexdigest()[:16]

    @cached_property
    def _canonical_text(self) -> str:
        return _CANONICAL.encode(self.canonical())

    def check_start(self, config: Config) -> None:
        """Raise SpaceError unless a trial may begin with `config`."""
        self.validate(config)

    def may_lack(self, name: str) -> bool:
        """Return whether there are configs without this dimension."""
        return bool(self.dimensions[name].when)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._canonical_text == other._canonical_text

    def __hash__(self) -> int:
        return hash(self._canonical_text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema (draft 2020-12) of the configs of this space.

        It accepts what `validate` accepts, with two differences. To JSON Schema 1 and 1.0 are one number, so
        either may stand for the other; raises SpaceError where a condition tells them apart. And it has no
        word for an int of more than 10,000 values that are not multiples of their step: there it accepts the
        integers in between, and the description says which are meant.
        """
        conditional = {name: dimension.when for name, dimension in self.dimensions.items() if dimension.when}
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {name: dimension.schema() for name, dimension in self.dimensions.items()},
            "required": [name for name in self.dimensions if name not in conditional],
            "additionalProperties": False,
        }
        if conditional:
            schema["allOf"] = [self._condition_schema(name, when) for name, when in conditional.items()]
        return schema

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{name}={dimension!r}' for name, dimension in self.dimensions.items())})"

    def decode(self, units: Sequence[float]) -> Config:
        """Return the config at a point of the unit cube, one coordinate a dimension, active or not."""
        drawn = {
            name: dimension.decode(unit)
            for (name, dimension), unit in zip(self.dimensions.items(), units, strict=True)
        }
        return self._only_active(drawn) if self._conditional else drawn

    def encode(self, config: Config) -> list[float]:
        """Return the coordinates of a valid config; NaN marks an inactive dimension."""
        try:
            return [
                dimension.encode(config[name]) if name in config else math.nan
                for name, dimension in self.dimensions.items()
            ]
        except (KeyError, ValueError):
            self.validate(config)  # it tells which dimension is wrong
            raise

    def validate(self, config: Config) -> None:
        """Raise SpaceError unless `config` is a point of this space."""
        active = set(self._only_active(config, strict=True))
        for name, value in config.items():
            if name not in self.dimensions:
                raise SpaceError(f"{name!r} is not a dimension; this space has {list(self.dimensions)}.")
            if name not in active:
                raise SpaceError(f"dimension {name!r} is inactive in this config; leave it out.")
            if why := self.dimensions[name].refusal(value):
                raise SpaceError(f"dimension {name!r} cannot be {value!r}: {why}.")

    def points(self, units: Sequence[float]) -> Iterator[Config]:
        """Return every config, each once; a dimension with a continuum stays at its coordinate in `units`."""
        axes = {
            name: dimension.values() or (dimension.decode(unit),)
            for (name, dimension), unit in zip(self.dimensions.items(), units, strict=True)
        }
        return self._extended({}, self.parents_first, axes)

    def _extended(
        self, active: Config, names: Sequence[str], axes: Mapping[str, Sequence[Scalar]]
    ) -> Iterator[Config]:
        if not names:
            yield {name: active[name] for name in self.dimensions if name in active}
        elif _holds(self.dimensions[names[0]].when, active):
            for value in axes[names[0]]:
                yield from self._extended({**active, names[0]: value}, names[1:], axes)
        else:
            yield from self._extended(active, names[1:], axes)

    def _only_active(self, values: Config, *, strict: bool = False) -> Config:
        active: Config = {}
        for name in self.parents_first:
            if _holds(self.dimensions[name].when, active):
                if name in values:
                    active[name] = values[name]
                elif strict:
                    raise SpaceError(f"dimension {name!r} is missing from the config; add it.")
        return {name: active[name] for name in self.dimensions if name in active}

    def _condition_schema(self, name: str, when: When) -> dict[str, Any]:
        for parent, wanted in when.items():
            if alike := _numbers_alike(wanted, self.dimensions[parent]):
                raise SpaceError(
                    f"dimension {name!r}: its condition tells {alike[0]!r} from {alike[1]!r} of {parent!r}, "
                    "which are one number to JSON Schema; write them as strings."
                )
        holds = {parent: {"enum": list(wanted)} for parent, wanted in when.items()}
        return {
            "if": {"properties": holds, "required": list(holds)},
            "then": {"required": [name]},
            "else": {"properties": {name: False}},
        }

    def _check_condition(self, name: str, dimension: Dimension) -> None:
        if not isinstance(dimension.when, Mapping | None):
            raise SpaceError(
                f"dimension {name!r}: its condition maps names of dimensions to lists of values; "
                f"got {dimension.when!r}."
            )
        for parent, wanted in (dimension.when or {}).items():
            if parent not in self.dimensions:
                raise SpaceError(
                    f"dimension {name!r}: its condition names {parent!r}, which is not a dimension; "
                    f"this space has {list(self.dimensions)}."
                )
            if isinstance(self.dimensions[parent], Float):
                raise SpaceError(
                    f"dimension {name!r}: its condition names {parent!r}, a float, which is never exactly "
                    "one of a few values; condition on an int or on choices."
                )
            if not _is_list(wanted) or not wanted:
                raise SpaceError(f"dimension {name!r}: give a non-empty list of values of {parent!r}.")
            for value in wanted:
                if why := self.dimensions[parent].refusal(value):
                    raise SpaceError(
                        f"dimension {name!r}: its condition can never hold, "
                        f"{parent!r} is never {value!r}: {why}."
                    )

    def _ordered(self) -> list[str]:
        parents = {name: set(dimension.when or {}) for name, dimension in self.dimensions.items()}
        try:
            return list(TopologicalSorter(parents).static_order())
        except CycleError as cycle:
            chain = " -> ".join(cycle.args[1])
            raise SpaceError(f"conditions go round in a circle: {chain}; remove one of them.") from None


class OpenSpace(Space):
    """A space to which a dimension is added when a trial first asks for it, as far as it is known.

    A config may lack each dimension that some trial did not ask for. No dimension has a condition: what a
    trial asks for is up to its program.
    """

    is_open = True
    _fewest = 0

    def __init__(
        self, dimensions: Mapping[str, Dimension] | None = None, always: Iterable[str] | None = None
    ) -> None:
        super().__init__(**(dimensions or {}))
        self.always: Final = None if always is None else frozenset(always)  # each trial asked for these
        for name, dimension in self.dimensions.items():
            if dimension.when:
                raise SpaceError(f"dimension {name!r}: an open space has no conditions; ask in a branch.")

    @classmethod
    def from_json(cls, document: Mapping[str, Mapping[str, Any]]) -> "OpenSpace":
        return cls(_dimensions_from_json(document))

    def holding(self, dimensions: Mapping[str, Dimension]) -> "OpenSpace":
        """Return it with what a trial asks for, each range wide enough. Raises SpaceError."""
        found = {name: self._wider(name, each) for name, each in dimensions.items()}
        if all(self.dimensions.get(name) == each for name, each in found.items()):
            return self
        return OpenSpace({**self.dimensions, **found}, self.always)

    def after(self, config: Config, dimensions: Mapping[str, Dimension]) -> "OpenSpace":
        """Return it as it is after a trial that asked for this config. Raises SpaceError."""
        always = frozenset(config) if self.always is None else self.always & config.keys()
        wider = self.holding(dimensions)
        if unknown := config.keys() - wider.dimensions.keys():
            raise SpaceError(f"no dimension is known for {sorted(unknown)}; give it beside the config.")
        space = wider if always == self.always else OpenSpace(wider.dimensions, always)
        space.validate(config)
        return space

    def check_start(self, config: Config) -> None:
        """Raise SpaceError unless a trial may begin with `config`; its program says what it is used for."""
        OpenSpace().holding({name: Categorical((value,)) for name, value in config.items()})

    def _wider(self, name: str, asked: Dimension) -> Dimension:
        if type(name) is not str or not 1 <= len(name) <= LONGEST_NAME:
            raise SpaceError(f"{name!r} is no name of a dimension: give 1 to {LONGEST_NAME} characters.")
        asked.check(name)
        known = self.dimensions.get(name)
        if known is None:
            return asked
        wider: Dimension | None = known.holding(asked) if type(known) is type(asked) else None
        if wider is None:
            raise SpaceError(
                f"dimension {name!r} is {known} in this study, and here {asked} is asked for. Only the "
                "bounds of a number may change: give what is another thing another name."
            )
        return wider if wider.canonical() != known.canonical() else known

    @property
    def declaration(self) -> dict[str, dict[str, Any]] | Open:
        return OPEN

    def may_lack(self, name: str) -> bool:
        return self.always is None or name not in self.always

    def schema(self) -> dict[str, Any]:
        required = [name for name in self.dimensions if not self.may_lack(name)]
        return {**super().schema(), "required": required, "additionalProperties": True}

    def __repr__(self) -> str:
        return f"OpenSpace({dict(self.dimensions)!r})"

    @cached_property
    def _canonical_text(self) -> str:
        always = None if self.always is None else sorted(self.always)
        return _CANONICAL.encode([OPEN, self.canonical(), always])

    def _only_active(self, values: Config, *, strict: bool = False) -> Config:
        for name in self.dimensions:
            if strict and name not in values and not self.may_lack(name):
                raise SpaceError(f"dimension {name!r} is missing from the config; add it.")
        return {name: values[name] for name in self.dimensions if name in values}


@dataclass(frozen=True, kw_only=True)
class AskedFor:
    """What a trial of an open study has asked for."""

    config: Config
    dimensions: Mapping[str, Dimension]  # as asked; of an observation, those not asked as they were known

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "AskedFor":
        """Read what `to_json` returned. Raises SpaceError."""
        dimensions = OpenSpace.from_json(document["dimensions"]).dimensions
        return cls(config=document["config"], dimensions=dimensions)

    def to_json(self) -> dict[str, Any]:
        return {"config": self.config, "dimensions": OpenSpace(self.dimensions).to_json()}

    def news_to(self, space: OpenSpace) -> "AskedFor":
        """Return it with those dimensions alone that are not as the space has them. Raises SpaceError."""
        space.after(self.config, self.dimensions)
        news = {name: each for name, each in self.dimensions.items() if space.dimensions.get(name) != each}
        return AskedFor(config=self.config, dimensions=news)


def space_of(space: Space | Open) -> Space:
    """Return the space that a program gives. Raises SpaceError."""
    if isinstance(space, Space):
        return space
    if space != OPEN:
        raise SpaceError(
            f'give the space, or "{OPEN}"; got {space!r}. A space is a Space(lr=Float(1e-5, 1.0)).'
        )
    return OpenSpace()


def config_key(config: Config) -> str:
    """Return the text that is equal for equal configs, whatever the order of their keys."""
    return _CANONICAL.encode(config)


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def _holds(when: When | None, active: Config) -> bool:
    return all(
        parent in active and _key(active[parent]) in _keys(wanted) for parent, wanted in (when or {}).items()
    )


def _dimensions_from_json(document: Mapping[str, Mapping[str, Any]]) -> dict[str, Dimension]:
    return {name: _dimension_from_json(name, entry) for name, entry in document.items()}


def _dimension_from_json(name: str, entry: Mapping[str, Any]) -> Dimension:
    if not isinstance(entry, Mapping):
        raise SpaceError(f"dimension {name!r}: give a table with its type and settings; got {entry!r}.")
    settings = dict(entry)
    kind = settings.pop("type", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise SpaceError(f"dimension {name!r}: its type is one of {list(KINDS)}; got {kind!r}.")
    known = {known.name for known in fields(KINDS[kind])}
    if unknown := settings.keys() - known:
        raise SpaceError(f"dimension {name!r}: a {kind} knows {sorted(known)}; remove {sorted(unknown)}.")
    needed = [needed.name for needed in fields(KINDS[kind]) if needed.default is MISSING]
    if missing := [setting for setting in needed if setting not in settings]:
        raise SpaceError(f"dimension {name!r}: a {kind} needs {needed}; add {missing}.")
    if isinstance(settings.get("choices"), list):
        settings["choices"] = tuple(settings["choices"])
    dimension: Dimension = KINDS[kind](**settings)
    return dimension


def dimension_to_json(dimension: Dimension) -> dict[str, Any]:
    """Return its JSON form, without what is as usual."""
    kind = next(kind for kind, made in KINDS.items() if type(dimension) is made)
    entry: dict[str, Any] = {"type": kind}
    for known in fields(KINDS[kind]):
        value = getattr(dimension, known.name)
        if value != known.default:
            entry[known.name] = float(value) if known.type is float else _plain(value)
    return entry


def _canonical_entry(dimension: Dimension) -> dict[str, Any]:
    entry = dimension_to_json(dimension.canonical())
    if when := entry.pop("when", None):
        entry["when"] = {parent: _unordered(when[parent]) for parent in sorted(when)}
    return entry


def _unordered(values: Sequence[Scalar]) -> list[Scalar]:
    """Return each value once, in the order of their keys: the same for every order they come in."""
    return [value for _, value in sorted({_key(value): value for value in values}.items())]


def _plain(setting: Any) -> Any:
    if isinstance(setting, Mapping):
        return {parent: list(wanted) for parent, wanted in setting.items()}
    return list(setting) if isinstance(setting, Sequence) else setting


def _check_bounds(name: str, low: float, high: float, *, log: bool) -> None:
    if not isinstance(log, bool):
        raise SpaceError(f"dimension {name!r}: log is true or false; got {log!r}.")
    if not all(_is_number(bound) and abs(bound) <= LARGEST_FLOAT for bound in (low, high)):
        raise SpaceError(f"dimension {name!r}: low and high are finite numbers; got {low!r} and {high!r}.")
    if low > high:
        raise SpaceError(f"dimension {name!r}: low {low} is above high {high}; swap them.")
    if high - low > LARGEST_FLOAT:
        raise SpaceError(f"dimension {name!r}: the range {low} to {high} overflows; narrow it.")
    if log and low <= 0:
        raise SpaceError(f"dimension {name!r}: a log scale needs low > 0; got {low}. Raise low or drop log.")


def _check_choices(name: str, choices: Sequence[Scalar]) -> None:
    if not _is_list(choices) or not 1 <= len(choices) <= MAX_CHOICES:
        raise SpaceError(f"dimension {name!r}: choices is a list of 1 to {MAX_CHOICES} values.")
    for choice in choices:
        if not (choice is None or isinstance(choice, str | bool) or _is_number(choice)):
            raise SpaceError(
                f"dimension {name!r}: a choice is a string, number, boolean or null; got {choice!r}."
            )
        if isinstance(choice, float) and not math.isfinite(choice):
            raise SpaceError(f"dimension {name!r}: the choice {choice!r} cannot be written as JSON.")
        if isinstance(choice, int) and abs(choice) > LARGEST_INT:
            raise SpaceError(f"dimension {name!r}: JSON rounds the choice {choice}; write it as a string.")
    if len(set(_keys(choices))) < len(choices):
        raise SpaceError(f"dimension {name!r}: its choices repeat; give each once.")


def _choice_at(choices: Sequence[Scalar], unit: float) -> Scalar:
    return choices[min(int(unit * len(choices)), len(choices) - 1)]


def _codes(choices: Sequence[Scalar]) -> dict[str, int]:
    return {key: code for code, key in enumerate(_keys(choices))}


def _not_a_choice(choices: Sequence[Scalar]) -> str:
    if len(choices) <= MOST_NAMED:
        return f"it must be one of {list(choices)}"
    first = ", ".join(map(repr, choices[:MOST_NAMED]))
    return f"it must be one of {len(choices)} choices, {first} ..."


def _numbers_alike(wanted: Sequence[Scalar], parent: Dimension) -> tuple[Scalar, Scalar] | None:
    """Return a value that a condition wants and an equal number that it does not want, or None."""
    if not isinstance(parent, Categorical | Ordinal):
        return None
    keys = set(_keys(wanted))
    numbers = {value: value for value in wanted if _is_number(value)}
    for choice in parent.choices:
        if _is_number(choice) and choice in numbers and _key(choice) not in keys:
            return numbers[choice], choice
    return None


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Scalar) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpaceError(f"expected a number, got {value!r}.")
    return value


def _key(value: Scalar) -> str:
    """Tell 1, 1.0, True and "1" apart, as JSON does; what cannot be written as JSON has no key."""
    try:
        return json.dumps(value)
    except TypeError:
        return ""


def _keys(values: Sequence[Scalar]) -> list[str]:
    return [_key(value) for value in values]
