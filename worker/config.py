"""What a task can be told: settings with their limits, and the configs that are read by them.

    @dataclass(frozen=True, kw_only=True)
    class Settings:
        lr: float = setting(0.1, "Learning rate.", above=0.0, suggested=Float(0.001, 1.0, log=True))

    settings = read(Settings, config)

The same table gives the JSON Schema of the configs, by which a server knows spaces that no worker
could train, and the space that is suggested to those who have none in mind.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from math import inf, isfinite
from typing import Any, Final, TypeVar

from thiessen.space import Categorical, Config, Dimension, Scalar, Space
from thiessen.spelling import nearest

T = TypeVar("T")

_KINDS: Final[Mapping[type, str]] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_VALUES: Final = {"boolean": bool, "integer": int, "number": int | float, "string": str}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a config may set under one name. Its type is that of its default."""

    default: bool | int | float | str | None  # None: where it is not set, training finds it
    meaning: str
    of: type | None = None  # its type, where there is no default to tell it
    low: float = -inf  # the least value
    high: float = inf  # the greatest
    above: float = -inf  # less than every value
    below: float = inf  # greater than every value
    choices: tuple[str, ...] = ()  # all values of a text; none named: any
    suggested: Dimension | None = None  # what a study may search, where nobody knows better

    @property
    def kind(self) -> str:
        """The name of its type in JSON."""
        return _KINDS[self.of or type(self.default)]

    @property
    def limits(self) -> str:
        """What its values are, in words that follow "it is"."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind in {"boolean", "string"}:
            return {"boolean": "true or false", "string": "a text"}[self.kind]
        kind = "an integer" if self.kind == "integer" else "a number"
        if isfinite(self.low) and isfinite(self.high):
            return f"{kind} from {_written(self.low)} to {_written(self.high)}"
        limits = {"at least": self.low, "above": self.above, "at most": self.high, "below": self.below}
        told = [f"{word} {_written(limit)}" for word, limit in limits.items() if isfinite(limit)]
        return " ".join([kind, " and ".join(told)]).rstrip()

    def refusal(self, value: Scalar) -> str | None:
        """Say why this is none of its values, or return None."""
        if not isinstance(value, _VALUES[self.kind]) or isinstance(value, bool) != (self.kind == "boolean"):
            return f"it is {self.limits}"
        if isinstance(value, str):
            return None if not self.choices or value in self.choices else f"it is {self.limits}"
        within = self.low <= value <= self.high and self.above < value < self.below
        return None if within and isfinite(value) else f"it is {self.limits}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values."""
        limits = {
            "minimum": self.low,
            "maximum": self.high,
            "exclusiveMinimum": self.above,
            "exclusiveMaximum": self.below,
        }
        return {
            "type": self.kind,
            **({"enum": list(self.choices)} if self.choices else {}),
            **{word: limit for word, limit in limits.items() if isfinite(limit)},
            "description": self.meaning,
        }


def setting(default: Any, meaning: str, **limits: Any) -> Any:
    """Return a field of a dataclass of settings."""
    return field(default=default, metadata={"setting": Setting(default=default, meaning=meaning, **limits)})


def settings_of(kind: type) -> dict[str, Setting]:
    """Return the settings of a dataclass by name; fields that are none are left out."""
    return {each.name: each.metadata["setting"] for each in fields(kind) if "setting" in each.metadata}


def read(kind: type[T], config: Config) -> T:
    """Return the settings of a config. Raises ValueError that names a wrong one and the cure."""
    return kind(**checked(settings_of(kind), config))


def checked(known: Mapping[str, Setting], config: Config, *, ignored: Collection[str] = ()) -> dict[str, Any]:
    """Return the value of each setting: the config's, else its default.

    Names to be ignored may stand in the config too. Raises ValueError.
    """
    values: dict[str, Any] = {name: each.default for name, each in known.items()}
    for name, value in config.items():
        if name in known:
            if refusal := known[name].refusal(value):
                raise wrong(name, value, refusal)
            is_number = known[name].kind == "number"
            values[name] = float(value) if is_number and isinstance(value, int) else value
        elif name not in ignored:
            raise wrong(name, value, f"there is no such setting; {nearest(name, [*known, *ignored])}")
    return values


def wrong(name: str, value: object, cure: str) -> ValueError:
    """Return the error of a setting that a task cannot train with."""
    return ValueError(f"setting {name!r} of the config is {value!r}: {cure}.")


def _written(limit: float) -> str:
    return f"{limit:,.0f}" if float(limit).is_integer() else f"{limit:g}"


def schema(known: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the configs that these settings take."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {name: {**each.schema(), **_default(each)} for name, each in known.items()},
        "additionalProperties": False,
    }


def _default(each: Setting) -> dict[str, Scalar]:
    return {} if each.default is None else {"default": each.default}


def suggested(known: Mapping[str, Setting], **fixed: Scalar) -> dict[str, dict[str, Any]]:
    """Return the JSON form of the space that is suggested; what is fixed is a dimension of one value."""
    dimensions: dict[str, Dimension] = {name: Categorical([value]) for name, value in fixed.items()}
    dimensions |= {name: each.suggested for name, each in known.items() if each.suggested is not None}
    return Space(**dimensions).to_json()
