"""What a storage of Optuna keeps, and by which rules."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, NewType

from app.domain.errors import DistributionDiffers, InvalidRequest

OptunaStudyId = NewType("OptunaStudyId", int)
OptunaTrialId = NewType("OptunaTrialId", int)
Value = float | str  # NaN, Infinity and -Infinity go by their names

MOST_PARAMS: Final = 1000  # names of a study
LARGEST: Final = 900_000  # characters that a study's attributes take, or all of a trial


class OptunaState(StrEnum):
    """The states of Optuna's trials."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAIL = "fail"

    @property
    def is_finished(self) -> bool:
        return self not in {OptunaState.WAITING, OptunaState.RUNNING}


class Kind(StrEnum):
    """What a entry of a trial, or an attribute of a study, is."""

    PARAM = "param"
    USER = "user"
    SYSTEM = "system"
    STEP = "step"


class Entry(NamedTuple):
    """A param, an attribute or an intermediate value: whatever a trial has under a name."""

    kind: Kind
    name: str
    text: str

    @property
    def size(self) -> int:
        return len(self.name) + len(self.text)


@dataclass(frozen=True, kw_only=True)
class OptunaStudy:
    """A study of Optuna."""

    id: OptunaStudyId
    name: str
    directions: Sequence[str]
    attributes: Sequence[Entry]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a trial is to have: a new one, or one that is there and keeps what is not told."""

    state: OptunaState | None = None
    values: Sequence[Value] | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    distributions: Mapping[str, str] = field(default_factory=dict)
    entries: Sequence[Entry] = ()


@dataclass(frozen=True, kw_only=True)
class OptunaTrial:
    """A trial of Optuna."""

    id: OptunaTrialId
    study_id: OptunaStudyId
    number: int
    seq: int
    state: OptunaState
    values: Sequence[Value] | None
    started_at: datetime | None
    completed_at: datetime | None
    entries: Sequence[Entry]


def must_fit(values: Sequence[Value] | None, state: OptunaState, objectives: int) -> None:
    """Raise InvalidRequest unless a trial in this state may have these values."""
    if values is None:
        if state is OptunaState.COMPLETE:
            raise InvalidRequest(f"A complete trial has {objectives} values, one for each objective.")
        return
    if len(values) != objectives:
        raise InvalidRequest(f"The study has {objectives} objectives, and the trial {len(values)} values.")
    if "NaN" in values:
        raise InvalidRequest("A value is NaN. Let the trial fail, or be pruned without a value.")


def must_be_distribution(name: str, text: str) -> None:
    """Raise InvalidRequest unless it is a distribution, as Optuna writes one."""
    found = json.loads(text)
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise InvalidRequest(f'The distribution of {name!r} has no name; it is like {{"name": ...}}.')
    attributes = found.get("attributes")
    if not isinstance(attributes, dict) or not isinstance(attributes.get("choices", []), list):
        raise InvalidRequest(
            f"The distribution of {name!r} lacks what it has: attributes, of which choices are a list."
        )


def must_be_compatible(name: str, known: str, told: str) -> None:
    """Raise DistributionDiffers unless a parameter may have both: the kind, log, and choices stay."""
    before, after = json.loads(known), json.loads(told)
    if before["name"] != after["name"]:
        raise DistributionDiffers(name, f"a {before['name']}, not a {after['name']}")
    was, now = before["attributes"], after["attributes"]
    if bool(was.get("log")) != bool(now.get("log")):
        raise DistributionDiffers(name, f"log={bool(was.get('log'))}, not log={bool(now.get('log'))}")
    mine, others = was.get("choices", []), now.get("choices", [])
    if len(mine) != len(others) or not all(map(_is_same, mine, others)):
        raise DistributionDiffers(name, f"the choices {_shortened(mine)}, in this order")


def _is_same(choice: Any, other: Any) -> bool:
    return bool(choice == other) or (_is_nan(choice) and _is_nan(other))


def _is_nan(choice: Any) -> bool:
    return isinstance(choice, float) and math.isnan(choice)


def _shortened(choices: Sequence[Any]) -> str:
    told = ", ".join(map(repr, choices[:5]))
    return f"[{told}, ...]"[:500] if len(choices) > 5 else f"[{told}]"[:500]
