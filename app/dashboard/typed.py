"""What people type into forms, as what it means."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from app.domain.errors import InvalidRequest
from app.lifecycle.enqueue import Candidate
from thiessen.contract import NewTrials
from thiessen.contract.faults import faults
from thiessen.study_text import loader

LONGEST: Final = 200_000  # characters: YAML is read slowly


def whole(text: str, label: str) -> int:
    """Return a whole number. Raises InvalidRequest."""
    if not re.fullmatch(r"[0-9]{1,12}", text.strip()):
        raise InvalidRequest(f"{label}: a whole number, such as 160; it was “{text[:40]}”.")
    return int(text)


def names(text: str) -> list[str]:
    """Return names that stand between spaces or commas, each once."""
    return list(dict.fromkeys(re.findall(r"[^\s,#]+", text)))


def candidates(text: str) -> list[Candidate]:
    """Return the configs of a text: JSON or YAML, one in each line, or one or more written over several.

    Raises InvalidRequest.
    """
    if len(text) > LONGEST:
        raise InvalidRequest(f"These are {len(text)} characters; send at most {LONGEST} at once.")
    found = list(_configs(text))
    if not found:
        raise InvalidRequest('Type a config, for example {"lr": 0.1}; one in each line.')
    try:
        sent = NewTrials.model_validate({"trials": [{"config": each} for each in found]})
    except ValidationError as error:
        raise InvalidRequest(f"{faults(error)}.") from error
    return [Candidate(config=each.config) for each in sent.trials]


def _configs(text: str) -> Iterator[Any]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if all(line.lstrip().startswith("{") for _, line in lines):
        for number, line in lines:
            yield from _documents(line, f"line {number}")
    else:
        yield from _documents(text, "this")


def _documents(text: str, place: str) -> Iterator[Any]:
    """Yield what is in a text; a list is that of its items."""
    import yaml

    try:
        documents = _read(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        raise InvalidRequest(f"{place} is neither JSON nor YAML: {why}.") from error
    for document in documents:
        if document is not None:
            yield from document if isinstance(document, list) else [document]


def _read(text: str) -> list[Any]:
    """Return the documents of a text. JSON goes first: some of it, with tabs, is not YAML."""
    import yaml

    try:
        return [json.loads(text)]
    except ValueError:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise InvalidRequest(
                "Write out what the aliases (*) stand for: a few can make very much."
            ) from None
        return list(yaml.load_all(text, loader()))
