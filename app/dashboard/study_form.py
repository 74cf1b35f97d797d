"""A study as a form holds it, both ways: the fields of a document, and the document of fields."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

from pydantic import ValidationError

from app.dashboard.sent import Fault, Form, in_words, number
from thiessen.contract import StudySpec
from thiessen.integrations import KNOWN
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.search.strategy import StrategyError
from thiessen.space import SpaceError

ROWS: Final = 3  # of a new form
MOST_ROWS: Final = 256  # the dimensions that a space may have
KINDS: Final[Mapping[str, str]] = {
    "float": "number",
    "int": "whole number",
    "categorical": "choice",
    "ordinal": "choice in order",
    "boolean": "yes or no",
}
OF_A_ROW: Final = ("name", "type", "low", "high", "log", "choices")
RULES: Final[Mapping[str, str]] = {
    "": "none",
    "median": "worse than the median of the others",
    "successive_halving": "not among the best third at its rung",
    "threshold": "worse than a threshold",
}
LINES: Final[Mapping[str, str]] = {  # on each strategy; of those of Optuna their own
    "biased_random:adaptive": "Draws near the best trials, and asks a surface through them: the usual one.",
    "biased_random:thesis": "Keeps a random draw more often where the nearest trial did well.",
    "quasi_random": "Fills the space evenly, whatever comes out: a baseline.",
    "random": "Draws at random: the baseline that others are measured by.",
    "grid": "Every combination of a few levels of each dimension.",
}
LABELS: Final[Mapping[str, str]] = {
    "name": "Name",
    "task": "Task",
    "strategy": "Strategy",
    "direction": "Good values are",
    "max_trials": "Trials",
    "max_gpu_hours": "GPU hours at most",
    "max_updates": "Updates of all trials at most",
    "max_seconds": "Seconds of training at most",
    "target": "A value that is good enough",
    "seed": "Seed",
    "max_running": "Trials at once at most",
    "max_attempts": "Attempts for each trial",
    "gpus": "GPUs that a slot must have",
    "gpu_memory_gb": "GPU memory that a slot must have, GB",
    "stopping": "End a trial early when it is",
    "stopping-metric": "by this metric",
    "stopping-threshold": "and this threshold",
    "deadline": "Deadline",
    "priority": "Weight among other studies",
    "tags": "Tags",
    "notes": "Notes",
}
PARTS: Final[Mapping[str, str]] = {"type": "kind", "log": "log scale"}  # of a dimension; others as they are
USUAL: Final = "biased_random:adaptive"
NO_ROOM: Final = ("retry", "duplicates", "failures_repel", "allow_versions", "attributes")
_NUMBERS: Final = (
    "max_trials", "max_gpu_hours", "max_updates", "max_seconds", "target", "seed", "max_running",
    "max_attempts", "priority",
)  # fmt: skip
_WORD: Final = re.compile(r"[A-Za-z_][\w.+/-]*")


@dataclass(frozen=True)
class Option:
    """A strategy to choose."""

    key: str
    title: str
    line: str


def options() -> list[Option]:
    """Return the strategies that a form offers: ours, and those of packages that are here."""
    ours = [Option(key, key.replace(":", ", preset "), line) for key, line in LINES.items()]
    if find_spec("optuna") is None:
        return ours
    others = [name for name in KNOWN if name.startswith("optuna:")]
    return ours + [
        Option(name, name, (type(KNOWN[name]).__doc__ or "").partition("\n")[0]) for name in others
    ]


def document_of(form: Form) -> tuple[dict[str, Any], list[Fault]]:
    """Return the document that a form means, and which dimensions lack a name of their own."""
    found: dict[str, Any] = {name: form.one(name) for name in ("name", "task") if form.one(name)}
    found["space"], faults = _space(form)
    found["strategy"] = _strategy(form.one("strategy") or USUAL)
    found |= {name: number(form.one(name)) for name in _NUMBERS if form.one(name)}
    found |= {name: form.one(name) for name in ("direction", "deadline", "notes") if form.one(name)}
    if form.one("tags"):
        found["tags"] = [tag.strip() for tag in form.one("tags").split(",") if tag.strip()]
    needed = {name: number(form.one(name)) for name in ("gpus", "gpu_memory_gb") if form.one(name)}
    if needed:
        found["requires"] = needed
    if rule := form.one("stopping"):
        found["stopping"] = {"rule": rule} | {
            name: read(form.one(f"stopping-{name}"))
            for name, read in _of_rules.items()
            if form.one(f"stopping-{name}")
        }
    return found, faults


_of_rules: Final[Mapping[str, Callable[[str], Any]]] = {"metric": str, "threshold": number}


def _space(form: Form) -> tuple[dict[str, Any], list[Fault]]:
    space: dict[str, Any] = {}
    faults = []
    for row in rows(form):
        said = {part: form.one(f"space-{row}-{part}") for part in OF_A_ROW}
        if not any(said[part] for part in ("name", "low", "high", "choices")):
            continue
        if not said["name"] or said["name"] in space:
            says = "Another dimension has this name." if said["name"] else "This is needed."
            faults.append(Fault(f"space-{row}-name", says))
            continue
        dimension: dict[str, Any] = {"type": said["type"] or "float"}
        if dimension["type"] in {"float", "int"}:
            dimension |= {end: number(said[end]) for end in ("low", "high") if said[end]}
            dimension |= {"log": True} if said["log"] else {}
        elif dimension["type"] != "boolean":
            dimension["choices"] = choices_of(said["choices"])
        space[said["name"]] = dimension
    return space, faults


def rows(form: Form) -> range:
    """Return the places of the dimensions in a form."""
    wanted = number(form.one("rows"))
    return range(min(max(wanted, 1), MOST_ROWS) if isinstance(wanted, int) else ROWS)


def choices_of(text: str) -> list[Any]:
    """Return the choices that are written in a field: a list of JSON, or words and numbers between commas."""
    try:
        return list(json.loads(f"[{text}]"))
    except (ValueError, RecursionError):
        return [_choice(part.strip()) for part in text.split(",") if part.strip()]


def _choice(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(found, list | dict) else found


def written(choices: Sequence[Any]) -> str:
    """Return choices as a field has them; `choices_of` gives them back."""
    are_words = all(not isinstance(each, str) or _is_word(each) for each in choices)
    return ", ".join(
        each if are_words and isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for each in choices
    )


def _is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None and _choice(text) == text


def _strategy(key: str) -> Any:
    name, _, preset = key.partition(":")
    is_ours = name in KNOWN and preset in KNOWN[name].presets
    return {"name": name, "preset": preset} if is_ours else key


def form_of(spec: StudySpec) -> tuple[Form, list[str]]:
    """Return a study as a form holds it, and the places that a form has no room for."""
    sent = spec.model_dump(mode="json", exclude_unset=True)
    texts: dict[str, str] = {}
    left: list[str] = [name for name in NO_ROOM if name in sent]
    for name in ("name", "task", "direction", "deadline", "notes", *_NUMBERS):
        if sent.get(name) is not None:
            texts[name] = str(sent[name])
    texts["tags"] = ", ".join(sent.get("tags", []))
    texts["strategy"] = _key_of(sent["strategy"]) if "strategy" in sent else USUAL
    if not texts["strategy"]:
        left.append("strategy")
    for name, value in sent.get("requires", {}).items():
        if name in {"gpus", "gpu_memory_gb"}:
            texts[name] = str(value)
        else:
            left.append(f"requires.{name}")
    for name, value in (sent.get("stopping") or {}).items():
        texts["stopping" if name == "rule" else f"stopping-{name}"] = str(value)
        if name not in {"rule", *_of_rules}:
            left.append(f"stopping.{name}")
    left += _write_space(sent["space"], texts)
    return Form({name: [text] for name, text in texts.items()}), left


def _write_space(space: Any, texts: dict[str, str]) -> list[str]:
    """Write a space into the fields of a form; return the places without room."""
    if isinstance(space, str):
        return ["space"]
    left = []
    texts["rows"] = str(len(space))
    for row, (name, dimension) in enumerate(space.items()):
        texts[f"space-{row}-name"] = name
        for part, value in dimension.items():
            field = f"space-{row}-{part}"
            if part == "choices":
                texts[field] = written(value)
            elif part == "log":
                texts |= {field: "on"} if value else {}
            elif part in OF_A_ROW:
                texts[field] = str(value)
            elif value not in (None, 1):
                left.append(f"space.{name}.{part}")
    return left


def _key_of(strategy: Any) -> str:
    """Return the option that a strategy is, if it is one."""
    try:
        meant = strategy_to_json(strategy_from_json(strategy, KNOWN))
    except StrategyError:
        return ""
    for option in options():
        if strategy_to_json(strategy_from_json(_strategy(option.key), KNOWN)) == meant:
            return option.key
    return ""


def faults_of(error: ValidationError, form: Form) -> list[Fault]:
    """Return what is wrong with a document, each at its field of the form that it was made of."""
    places = {form.one(f"space-{row}-name"): row for row in rows(form)}
    found: dict[str, Fault] = {}
    for fault in error.errors():
        field = _field(fault["loc"], places)
        found[field] = Fault(field, in_words(fault))  # of a number that is none the last says so
    return list(found.values())


def _field(place: Sequence[int | str], rows_by_name: Mapping[str, int]) -> str:
    match [str(part) for part in place]:
        case ["space", name, *parts] if name in rows_by_name:
            part = next((part for part in OF_A_ROW if part in parts), "name")
            return f"space-{rows_by_name[name]}-{part}"
        case ["space", *_]:
            return "space-0-name"
        case ["stopping", *parts]:
            part = next((part for part in _of_rules if part in parts), "")
            return f"stopping-{part}" if part else "stopping"
        case ["requires", part, *_]:
            return part
        case [name, *_]:
            return name
    return ""


def fault_of(error: SpaceError | StrategyError, form: Form) -> Fault:
    """Return what is wrong with a space or a strategy, at its field."""
    if isinstance(error, StrategyError):
        return Fault("strategy", _sentence(str(error)))
    for row in rows(form):
        name = form.one(f"space-{row}-name")
        if name and str(error).startswith(f"dimension {name!r}"):
            return Fault(f"space-{row}-{'low' if ' low ' in str(error) else 'name'}", _sentence(str(error)))
    return Fault("space-0-name", _sentence(str(error)))


def _sentence(said: str) -> str:
    return said[:1].upper() + said[1:]


def lines(form: Form) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the dimensions of a form: their place, and the text of each part."""
    for row in rows(form):
        yield row, {part: form.one(f"space-{row}-{part}") for part in OF_A_ROW}


def called(field: str) -> str:
    """Return what a person knows a field by."""
    if of_row := re.fullmatch(r"space-([0-9]+)-(\w+)", field):
        return f"Dimension {int(of_row[1]) + 1}, {PARTS.get(of_row[2], of_row[2])}"
    return LABELS.get(field, field)
