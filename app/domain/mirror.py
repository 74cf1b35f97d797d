"""A trial of Optuna as a trial of ours."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from app.domain.optuna import OptunaState, Value
from app.domain.study import Direction
from app.domain.trial import Result, TrialState
from thiessen.space import (
    LARGEST_INT,
    AskedFor,
    Categorical,
    Dimension,
    Float,
    Int,
    OpenSpace,
    Scalar,
    SpaceError,
)

LONGEST_CHOICE: Final = 1000  # characters
LONGEST_NOTE: Final = 10_000


class Fitted(NamedTuple):
    """What a trial asked for, the space behind it, and what our spaces do not take, in sentences."""

    asked: AskedFor
    space: OpenSpace
    left_out: Sequence[str]

    @property
    def note(self) -> str:
        """What a person is told of the config."""
        return "\n".join(self.left_out)[:LONGEST_NOTE]


def fitted(space: OpenSpace, params: Mapping[str, Sequence[Any]]) -> Fitted:
    """Return what a trial with these params, each a value and a distribution, asked a space for.

    Never refuses: a param that the space does not take is left out of the config.
    """
    config: dict[str, Scalar] = {}
    dimensions: dict[str, Dimension] = {}
    left_out = []
    for name, (value, text) in params.items():
        try:
            dimension = _dimension(json.loads(text))
            wider = space.holding({name: dimension})
            found = _scalar(dimension, value, wider.dimensions[name])
        except SpaceError as error:
            left_out.append(f"The param {name!r}, {value!r} for Optuna, is not in the config: {error}")
        else:
            config[name], dimensions[name], space = found, dimension, wider
    asked = AskedFor(config=config, dimensions=dimensions)
    return Fitted(asked, space.after(config, dimensions), left_out)


def _dimension(distribution: Mapping[str, Any]) -> Dimension:
    """Return the dimension of a distribution, not yet checked; one of floats with a step is its range."""
    told = distribution["attributes"]
    match distribution["name"]:
        case "FloatDistribution":
            return Float(told.get("low"), told.get("high"), log=told.get("log", False))
        case "IntDistribution":
            return Int(told.get("low"), told.get("high"), told.get("step", 1), log=told.get("log", False))
        case "CategoricalDistribution":
            return Categorical(tuple(_choice(each) for each in told.get("choices", [])))
        case name:
            raise SpaceError(f"a {name} is no dimension here.")


def _choice(choice: Any) -> Scalar:
    """Return a choice itself where it is a scalar that any JSON reader takes, else its JSON as a text."""
    match choice:
        case None | bool():
            return choice
        case int() if abs(choice) <= LARGEST_INT:
            return choice
        case float() if math.isfinite(choice):
            return choice
        case str() if len(choice) <= LONGEST_CHOICE and not _has_half_a_character(choice):
            return choice
        case _:
            return json.dumps(choice)[:LONGEST_CHOICE]


def _has_half_a_character(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _scalar(dimension: Dimension, value: Value, known: Dimension) -> Scalar:
    """Return the value of a param, which Optuna keeps as a number; it is one of the dimension as known.

    Raises SpaceError.
    """
    number = float(value)
    found: Scalar = number
    if not isinstance(dimension, Float):
        if not number.is_integer():
            raise SpaceError("that is no whole number.")
        found = int(number)
    if isinstance(dimension, Categorical):
        if not 0 <= number < len(dimension.choices):
            raise SpaceError(f"there are {len(dimension.choices)} choices.")
        found = dimension.choices[int(number)]
    if why := known.refusal(found):
        raise SpaceError(f"{why}.")
    return found


def result(
    state: OptunaState,
    values: Sequence[Value] | None,
    steps: Mapping[str, Value],
    direction: Direction,
    asked: AskedFor,
) -> Result:
    """Return how a finished trial ended; a pruned one without a value has what it reported last."""
    if state is OptunaState.FAIL:
        return Result(state=TrialState.FAILED, asked=asked)
    told = values[0] if values else steps[max(steps, key=int)] if steps else math.nan
    value = float(told)
    loss = direction.loss(value) if math.isfinite(value) else None
    if state is OptunaState.PRUNED:
        return Result(state=TrialState.PRUNED, loss=loss, asked=asked)
    return Result(state=TrialState.DIVERGED if loss is None else TrialState.SUCCEEDED, loss=loss, asked=asked)
