"""What a report is made of: trials that ended in searches, and runs that confirmed configs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from thiessen.space import Config

Direction = Literal["minimize", "maximize"]
Points = Mapping[str, Sequence[float]]  # a list for each metric, and one for "step"; not all are finite


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A trial that has ended, in the order of ends. What it was worth is a loss; infinite without success."""

    number: int
    state: str  # succeeded, diverged, pruned, failed or cancelled
    loss: float = math.inf
    updates: int = 0  # the last step that it reported
    seconds: float = 0.0  # that its last attempt took
    config: Config = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Search:
    """One search of an arm."""

    replicate: int
    study: str
    trials: Sequence[Ended]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A config, trained again."""

    replicate: int  # of the search that found it
    trial: int  # there
    config: Config
    searched: float  # the loss it was chosen for
    loss: float  # of this run; infinite where it diverged or failed
    points: Points = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ArmFound:
    """All that is known of an arm."""

    label: str
    task: str
    strategy: str  # in words
    is_random: bool  # whether its trials are independent draws from the whole space
    settings: Config
    dimensions: Mapping[str, str]  # what is searched: names, and how each is declared in a word or two
    versions: Sequence[str]  # of the task, all that trained it
    searches: Sequence[Search]
    runs: Sequence[Run] = ()
