"""JSON as columns keep it."""

import json
from typing import Any, Final

from pydantic_core import from_json, to_json


def written(value: Any) -> str:
    """Return the text of a document; what UTF-8 has no bytes for is escaped, as Python does it."""
    try:
        return to_json(value).decode()
    except ValueError:
        return json.dumps(value)


def read(text: str | bytes) -> Any:
    """Return what a document says."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


JSON: Final[dict[str, Any]] = {"json_serializer": written, "json_deserializer": read}
"""What an engine is made with."""
