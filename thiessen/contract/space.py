"""The JSON form of a space. What its numbers must satisfy together is checked by `thiessen.space`."""

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, StrictBool, StrictInt

from thiessen.contract.words import Request, Scalar

DimensionName = Annotated[str, Field(min_length=1, max_length=100)]
When = dict[DimensionName, Annotated[list[Scalar], Field(min_length=1, max_length=1000)]]
Choices = Annotated[list[Scalar], Field(min_length=1, max_length=10_000)]


class _Dimension(Request):
    when: When | None = Field(
        default=None, description="Active only where these dimensions have these values."
    )


class FloatDimension(_Dimension):
    """A real number in [low, high]."""

    type: Literal["float"]
    low: StrictInt | FiniteFloat
    high: StrictInt | FiniteFloat
    log: StrictBool = False


class IntDimension(_Dimension):
    """An integer low, low + step, ... up to high."""

    type: Literal["int"]
    low: StrictInt
    high: StrictInt
    step: StrictInt = 1
    log: StrictBool = False


class CategoricalDimension(_Dimension):
    """One of several choices without an order."""

    type: Literal["categorical"]
    choices: Choices


class OrdinalDimension(_Dimension):
    """One of several choices in an order that matters."""

    type: Literal["ordinal"]
    choices: Choices


class BooleanDimension(_Dimension):
    """False or true."""

    type: Literal["boolean"]


Dimension = Annotated[
    FloatDimension | IntDimension | CategoricalDimension | OrdinalDimension | BooleanDimension,
    Field(discriminator="type"),
]
Space = Annotated[dict[DimensionName, Dimension], Field(min_length=1, max_length=256)]
