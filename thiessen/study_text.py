"""A study as people write it: TOML, YAML or JSON, sweeps too, and in which line something is wrong.

What reads other documents of people shares its parser and its faults.
"""

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import yaml
    from pydantic import BaseModel, ValidationError

    from thiessen.contract import StudySpec

Kind = Literal["toml", "yaml", "json"]
Place = Sequence[str | int]

MOST_NAMED: Final = 5
WITHOUT_A_DOT: Final = re.compile(r"[-+]?(?:\.?[0-9]+|[0-9]+\.[0-9]*)[eE][-+]?[0-9]+$")
MOST_VALUES: Final = 100_000  # that aliases of YAML may come to


@dataclass(frozen=True)
class Fault:
    """Something that is wrong, and where."""

    line: int | None
    place: Place
    message: str

    @property
    def said(self) -> str:
        """What is wrong with what."""
        return f"{'.'.join(str(part) for part in self.place) or 'the document'}: {self.message}"

    def __str__(self) -> str:
        return f"line {self.line}, {self.said}" if self.line else self.said


class WrongText(ValueError):  # noqa: N818 - says what happened
    """A text that is no study; `faults` has each place, the message tells all of them."""

    def __init__(self, says: str, faults: Sequence[Fault]) -> None:
        super().__init__(f"{says}: {'; '.join(map(str, faults))}.")
        self.faults = faults


class Unreadable(WrongText):
    """A text that its parser does not take; the parser says where."""

    def __init__(self, line: int | None, said: str) -> None:
        super().__init__("cannot be parsed", [])
        self.args = (f"cannot be parsed: {said}.",)
        self.faults = [Fault(line, (), said)]


def read(text: str, kind: Kind, name: str, *, has_aliases: bool = True) -> "StudySpec":
    """Return the study of a text; `name` is for a sweep that has none. Raises WrongText.

    A few aliases of YAML can stand for more than a machine holds: they are counted, and of strangers they are
    not read.
    """
    from pydantic import ValidationError

    from thiessen.cli import sweep
    from thiessen.contract import StudySpec
    from thiessen.contract.words import TASK

    document = parsed(text, kind, has_aliases=has_aliases)
    is_sweep = sweep.is_sweep(document)
    try:
        study = sweep.as_study(document, name, TASK) if is_sweep else document
    except sweep.WrongSweep as error:
        fault = _fault(text, kind, error.place, str(error))
        raise WrongText("is a sweep that makes no study here", [fault]) from error
    try:
        return StudySpec.model_validate(study)
    except ValidationError as error:
        found = faults(error, StudySpec, study, text, kind, sweep.place if is_sweep else tuple)
        raise WrongText("is not a study", found) from error


def faults(
    error: "ValidationError",
    model: "type[BaseModel]",
    document: Any,
    text: str,
    kind: Kind,
    place: Callable[[Place], Place] = tuple,
) -> list[Fault]:
    """Return what is wrong with a document, a few at their lines of the text that it was made of."""
    from thiessen.contract.faults import named

    return [
        _fault(text, kind, place(_there(document, where)), said)
        for where, said in named(error.errors(), model.model_json_schema())[:MOST_NAMED]
    ]


def parsed(text: str, kind: Kind, *, has_aliases: bool) -> Any:
    """Return the document of a text. Raises Unreadable."""
    if kind == "yaml":
        import yaml

        try:
            if "*" in text:
                (_count_aliases if has_aliases else _refuse_aliases)(text)
            return loader()(text).get_single_data()
        except yaml.YAMLError as error:  # it names the line
            mark = getattr(error, "problem_mark", None)
            line = None if mark is None else mark.line + 1
            raise Unreadable(line, " ".join(str(error).split())) from error
        except WrongText:
            raise
        except (ValueError, OverflowError, RecursionError) as error:  # of a value, or of what is in it
            raise Unreadable(None, str(error)) from error
    try:
        return json.loads(text) if kind == "json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # both parsers name the line
        raise Unreadable(getattr(error, "lineno", None), str(error)) from error


@cache
def loader() -> "type[yaml.SafeLoader]":
    """Return that of PyYAML, to which 1e-3 is a number, as it is in YAML 1.2 and in JSON."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # it has no types
        pass

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", WITHOUT_A_DOT, [*"-+.0123456789"])
    return Loader


def _refuse_aliases(text: str) -> None:
    import yaml

    for event in yaml.parse(text):
        if isinstance(event, yaml.AliasEvent):
            said = f"*{event.anchor} stands for what is written elsewhere; write it out here"
            raise Unreadable(event.start_mark.line + 1, said)


def _count_aliases(text: str) -> None:
    """Raise Unreadable where aliases stand for very much, or for themselves."""
    import yaml

    total = 0  # values so far, written out
    sizes = dict[str | None, int]()  # of what each anchor names
    begun: list[tuple[str | None, int]] = []
    for event in yaml.parse(text):
        match event:
            case yaml.AliasEvent(anchor=anchor):
                line = event.start_mark.line + 1
                if anchor not in sizes:
                    raise Unreadable(line, f"*{anchor} stands for nothing that is written before it")
                total += sizes[anchor]
                if total > MOST_VALUES:
                    said = f"with *{anchor} the aliases stand for more than {MOST_VALUES:,} values"
                    raise Unreadable(line, said)
            case yaml.ScalarEvent(anchor=anchor):
                total += 1
                sizes[anchor] = 1
            case yaml.CollectionStartEvent(anchor=anchor):
                begun.append((anchor, total))
                total += 1
            case yaml.CollectionEndEvent():
                anchor, before = begun.pop()
                sizes[anchor] = total - before


def _fault(text: str, kind: Kind, place: Place, message: str) -> Fault:
    line = _line_in_toml(text, place) if kind == "toml" else _line_in_yaml(text, place)
    return Fault(line, place, message)


def _there(document: Any, place: Place) -> Place:
    """Return a place without the names of kinds, which pydantic puts between what is in the document."""
    found, node = [], document
    for left, part in zip(range(len(place) - 1, -1, -1), place, strict=True):
        try:
            node = node[part]
        except (LookupError, TypeError):
            if left:
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
    latest = dict[tuple[str, ...], int]()  # of the tables of a list
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := re.match(r"\s*(\[{1,2})([^][]+)\]", line):
            table = there = _numbered(_parts(heading[2]), latest, is_next=len(heading[1]) == 2)
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            there = [*table, *_parts(key[1])]
        else:
            continue
        if len(there) > depth and there == names[: len(there)]:
            found, depth = number, len(there)
    return found


def _numbered(parts: Sequence[str], latest: dict[tuple[str, ...], int], *, is_next: bool) -> list[str]:
    """Return the parts of a table's name, and after that of a list which of its tables is meant."""
    there: list[str] = []
    for at, part in enumerate(parts, start=1):
        there.append(part)
        if is_next and at == len(parts):
            latest[tuple(there)] = latest.get(tuple(there), -1) + 1
        if tuple(there) in latest:
            there.append(str(latest[tuple(there)]))
    return there


def _parts(name: str) -> list[str]:
    return [part.strip().strip("\"'") for part in name.split(".")]
