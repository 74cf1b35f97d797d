"""The JSON form of a space. What its numbers must satisfy together is checked by `thiessen.space`."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    FiniteFloat,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictInt,
)
from pydantic_core import CoreSchema, core_schema

from thiessen.contract.words import Config, Request, Scalar

DimensionName = Annotated[str, Field(min_length=1, max_length=100)]
When = dict[DimensionName, Annotated[list[Scalar], Field(min_length=1, max_length=1000)]]
Choices = Annotated[list[Scalar], Field(min_length=1, max_length=10_000)]


class _Dimension(Request):
    when: When | None = Field(
        default=None, description="Active only where these dimensions have these values."
    )


class FloatDimension(_Dimension):
    """A real number in [low, high]."""

    type: Literal["float"] = Field(description="Which kind of dimension it is.")
    low: StrictInt | FiniteFloat = Field(description="The smallest value; it belongs to the range.")
    high: StrictInt | FiniteFloat = Field(description="The largest value; it belongs to the range.")
    log: StrictBool = Field(
        default=False,
        description="Whether equal factors are equally likely, not equal distances; `low` is then above 0.",
    )


class IntDimension(_Dimension):
    """An integer low, low + step, ... up to high."""

    type: Literal["int"] = Field(description="Which kind of dimension it is.")
    low: StrictInt = Field(description="The smallest value; it belongs to the range.")
    high: StrictInt = Field(
        description="No value is larger; it belongs to the range where a step ends there."
    )
    step: StrictInt = Field(default=1, description="From one value to the next; 1 where `log` is true.")
    log: StrictBool = Field(
        default=False,
        description="Whether equal factors are equally likely, not equal distances; `low` is then above 0.",
    )


class CategoricalDimension(_Dimension):
    """One of several choices without an order."""

    type: Literal["categorical"] = Field(description="Which kind of dimension it is.")
    choices: Choices = Field(description="The values, each once; 1, 1.0 and true are three of them.")


class OrdinalDimension(_Dimension):
    """One of several choices in an order that matters."""

    type: Literal["ordinal"] = Field(description="Which kind of dimension it is.")
    choices: Choices = Field(
        description="The values in their order, each once; neighbours are near each other."
    )


class BooleanDimension(_Dimension):
    """False or true."""

    type: Literal["boolean"] = Field(description="Which kind of dimension it is.")


Dimension = Annotated[
    FloatDimension | IntDimension | CategoricalDimension | OrdinalDimension | BooleanDimension,
    Field(discriminator="type"),
]
Space = Annotated[dict[DimensionName, Dimension], Field(min_length=1, max_length=256)]


class OrOpen:
    """Marks a space that may be the word for an open one; all else is told as of any space."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source
        space = handler.generate_schema(Space)
        written = core_schema.wrap_serializer_function_ser_schema(_written, schema=space)
        return core_schema.no_info_wrap_validator_function(_read, space, serialization=written)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"oneOf": [handler(core), {"const": "open", "type": "string"}]}


def _read(sent: Any, space: Callable[[Any], Any]) -> Any:
    if isinstance(sent, str) and sent != "open":
        raise ValueError('give its dimensions, or the word "open"')
    return sent if isinstance(sent, str) else space(sent)


def _written(declaration: Any, space: Callable[[Any], Any]) -> Any:
    return declaration if isinstance(declaration, str) else space(declaration)


Declaration = Annotated[Space | Literal["open"], OrOpen()]
Dimensions = Annotated[dict[DimensionName, Dimension], Field(max_length=256)]


class AskedFor(Request):
    """What a trial of an open study asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "config": {"lr": 0.01, "deep": False},
                    "dimensions": {
                        "lr": {"type": "float", "low": 1e-05, "high": 1.0, "log": True},
                        "deep": {"type": "boolean"},
                    },
                }
            ]
        }
    )

    config: Annotated[Config, Field(max_length=256)]
    dimensions: Dimensions = Field(
        default={}, description="As asked, without conditions; none where it is as the study knows it."
    )
