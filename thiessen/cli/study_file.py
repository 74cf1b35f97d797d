"""Study files: TOML, YAML or JSON, sweep files too, and where in them something is wrong."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thiessen.cli import sweep
from thiessen.cli.failure import CommandFailed

if TYPE_CHECKING:
    from thiessen.contract import StudySpec

YAML: Final = {".yaml", ".yml"}
MOST_NAMED: Final = 5

Place = Sequence[str | int]


def read(file: Path) -> "StudySpec":
    """Return the study of a file. Raises CommandFailed, which says in which line what is wrong."""
    from pydantic import ValidationError

    from thiessen.contract import StudySpec
    from thiessen.served import TASK

    text = _text(file)
    document = _document(file, text)
    is_sweep = sweep.is_sweep(document)
    try:
        study = sweep.as_study(document, file.stem, TASK) if is_sweep else document
        return StudySpec.model_validate(study)
    except sweep.WrongSweep as error:
        fault = _fault(file, text, error.place, str(error))
        raise CommandFailed(f"{file} is a sweep that makes no study here: {fault}.") from error
    except ValidationError as error:
        faults = [
            _fault(file, text, sweep.place(found) if is_sweep else found, fault["msg"])
            for fault in error.errors()[:MOST_NAMED]
            for found in [_there(study, fault["loc"])]
        ]
        raise CommandFailed(f"{file} is not a study: {'; '.join(faults)}.") from error


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"cannot read {file}: {error.strerror}.") from error
    except ValueError as error:
        raise CommandFailed(f"{file} cannot be parsed: it is not UTF-8.") from error


def _document(file: Path, text: str) -> Any:
    if file.suffix in YAML:
        import yaml

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:  # it names the line
            raise CommandFailed(f"{file} cannot be parsed: {' '.join(str(error).split())}.") from error
    try:
        return json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:  # both parsers name the line
        raise CommandFailed(f"{file} cannot be parsed: {error}.") from error


def _fault(file: Path, text: str, place: Place, message: str) -> str:
    line = _line_in_toml(text, place) if file.suffix not in {*YAML, ".json"} else _line_in_yaml(text, place)
    where = f"line {line}, " if line else ""
    return f"{where}{'.'.join(str(part) for part in place) or 'the document'}: {message}"


def _there(document: Any, place: Place) -> Place:
    """Return a place without the names of kinds, which pydantic puts between what is in the document."""
    found, node = [], document
    for part in place:
        try:
            node = node[part]
        except (LookupError, TypeError):
            if part != place[-1]:
                continue
        found.append(part)
    return found


def _line_in_yaml(text: str, place: Place) -> int | None:
    """Return the line of the last part of a place that is there. JSON is YAML too."""
    import yaml

    try:
        node = yaml.compose(text)
    except yaml.YAMLError:  # tabs, as JSON may have
        return None
    line = None
    for part in place:
        if isinstance(node, yaml.MappingNode):
            inner = [(key, value) for key, value in node.value if key.value == part]
            if not inner:
                break
            [(key, node), *_] = inner
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _line_in_toml(text: str, place: Place) -> int | None:
    """Return the line of the last part of a place that has one of its own: a table, or a key of one."""
    names = [str(part) for part in place]
    found, depth, table = None, 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := re.match(r"\s*\[+([^\]]+)\]", line):
            table = _parts(heading[1])
            there = table
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            there = [*table, *_parts(key[1])]
        else:
            continue
        if len(there) > depth and there == names[: len(there)]:
            found, depth = number, len(there)
    return found


def _parts(name: str) -> list[str]:
    return [part.strip().strip("\"'") for part in name.split(".")]
