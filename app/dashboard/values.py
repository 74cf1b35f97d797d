"""Values as people read them, and as they can be pasted."""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from thiessen.figures.text import short
from thiessen.space import Config, Scalar

MOST_CHIPS: Final = 8
MANY_DIMENSIONS: Final = 6  # as a table has room for


@dataclass(frozen=True)
class Chip:
    """The value of one dimension, short and in full."""

    name: str
    value: str
    exact: str


@dataclass(frozen=True)
class Shown:
    """A config: its chips in declared order, how many more there are, and what can be pasted, by format."""

    chips: list[Chip]
    more: int
    copies: dict[str, str]


def shown(dimensions: Iterable[str], config: Config) -> Shown:
    """Return a config for a page; what is inactive in it is left out."""
    active = {name: config[name] for name in dimensions if name in config}
    chips = [Chip(name, brief(value), str(value)) for name, value in active.items()]
    return Shown(chips[:MOST_CHIPS], max(len(chips) - MOST_CHIPS, 0), copies(active))


def copies(config: Mapping[str, Scalar]) -> dict[str, str]:
    """Return a config as it can be pasted, by format."""
    import yaml

    options = (shlex.quote(f"--{name}={_plain(value)}") for name, value in config.items())
    return {
        "JSON": json.dumps(dict(config), ensure_ascii=False),
        "YAML": yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True).rstrip("\n"),
        "Python": f"config = {dict(config)!r}",
        "Command": " ".join(options),
    }


def brief(value: Any) -> str:
    """Return a value with few digits."""
    return short(value) if isinstance(value, float) else _plain(value)


def span(length: timedelta) -> str:
    """Return a duration in two units."""
    seconds = max(round(length.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds} s"
    for large, unit, small, rest in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= large:
            many, left = divmod(seconds, large)
            return f"{many} {unit} {left // small} {rest}" if left >= small else f"{many} {unit}"
    raise AssertionError(seconds)


def place(worker: str, device: str) -> str:
    """Return where an attempt is."""
    return f"{worker}, {device}" if device else worker


def many(count: int, thing: str) -> str:
    """Return how many there are: 1 trial, 12 trials."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _plain(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
