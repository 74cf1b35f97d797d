"""Figures of a study."""

from typing import Any, Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from thiessen.contract.words import Answer

EXAMPLE: Final[JsonDict] = {
    "data": [
        {"type": "scatter", "mode": "lines", "name": "best so far", "x": [0, 3, 7], "y": [0.9, 0.4, 0.4]}
    ],
    "layout": {
        "meta": {
            "figure": "history",
            "title": "History",
            "caption": "8 finished trials; the best is trial 3 with 0.4.",
        },
        "xaxis": {"title": {"text": "trial"}},
    },
}


class Figure(Answer):
    """A figure as plotly draws it. None of its traces needs WebGL."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    data: list[dict[str, Any]] = Field(description="The traces.")
    layout: dict[str, Any] = Field(description="`meta` of it says in words what is shown.")
