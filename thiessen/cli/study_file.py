"""Files of studies and of comparisons: TOML, YAML or JSON by what they end in."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from thiessen.cli.failure import CommandFailed
from thiessen.comparison.text import read as read_comparison
from thiessen.study_text import Kind, WrongText
from thiessen.study_text import read as read_text

if TYPE_CHECKING:
    from thiessen.contract import ComparisonSpec, StudySpec

KINDS: Final[Mapping[str, Kind]] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def read(file: Path) -> "StudySpec":
    """Return the study of a file. Raises CommandFailed, which says in which line what is wrong."""
    try:
        return read_text(_text(file), _kind(file), file.stem)
    except WrongText as error:
        raise CommandFailed(f"{file} {error}") from error


def comparison(file: Path) -> "ComparisonSpec":
    """Return the comparison of a file, which names it where it has no name. Raises CommandFailed."""
    try:
        return read_comparison(_text(file), _kind(file), file.stem)
    except WrongText as error:
        raise CommandFailed(f"{file} {error}") from error


def _kind(file: Path) -> Kind:
    return KINDS.get(file.suffix, "toml")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"cannot read {file}: {error.strerror}.") from error
    except ValueError as error:
        raise CommandFailed(f"{file} cannot be parsed: it is not UTF-8.") from error
