from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Hyperparameter:
    """A setting of an optimizer that is worth a search: its constructor's argument, and where to look."""

    name: str
    kind: Literal["float", "int", "boolean", "categorical"]
    default: float | bool | str | None  # None: found while training
    low: float | None = None  # of a number: the least worth trying
    high: float | None = None
    log: bool = False  # whether ratios matter, rather than differences
    choices: tuple[str, ...] = ()  # of a categorical
