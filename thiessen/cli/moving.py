"""A study out of a file into a server, with what its trials came to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thiessen.cli.failure import CommandFailed
from thiessen.journal import parsed

if TYPE_CHECKING:
    from thiessen.client import Client
    from thiessen.contract import Study
    from thiessen.search import Observed
    from thiessen.search.record import Record

AT_ONCE: Final = 1000  # trials of one request


def moved(client: "Client", file: Path, name: str, task: str | None) -> tuple["Study", int]:
    """Create a study as a file has it; return it, and how many of its trials it was told.

    Those come with their outcomes and teach the search. What failed, was cancelled or had not ended is left
    behind, and as many trials are left to try as the study had left. Raises CommandFailed.
    """
    from pydantic import ValidationError

    from thiessen.contract import NewTrial, StudySpec
    from thiessen.contract.faults import faults
    from thiessen.contract.words import TASK

    document, record = _read(file)
    said = document["study"]
    trials = document["trials"]
    ended = list(_ended(record, is_maximised=said.get("direction") == "maximize"))
    budget = document.get("budget") or said.get("max_trials") or len(trials)
    terms = ("space", "strategy", "seed", "direction", "stopping")
    spec = {
        **{term: said[term] for term in terms if said.get(term) is not None},
        "name": name,
        "task": task or said.get("task") or TASK,
        "max_trials": max(budget - len(ended), 1),
    }
    try:
        client.create_study(StudySpec.model_validate(spec))
        found = [NewTrial.model_validate(each) for each in ended]
    except ValidationError as error:
        raise CommandFailed(f"{file} has no study that a server takes: {faults(error)}.") from error
    for begin in range(0, len(found), AT_ONCE):
        client.add_trials(name, found[begin : begin + AT_ONCE])
    return client.study(name), len(found)


def _read(file: Path) -> tuple[dict[str, Any], "Record"]:
    """Return a journal, or an export, as one document, and as a replay reads it. Raises CommandFailed."""
    from thiessen.integrations import KNOWN
    from thiessen.search import HistoryError
    from thiessen.search.record import Record

    try:
        text = file.read_text(encoding="utf-8")
        document = parsed(text) if file.suffix == ".jsonl" else json.loads(text)
        record = Record.from_json(document, KNOWN)
    except OSError as error:
        raise CommandFailed(f"cannot read {file}: {error.strerror}.") from error
    except HistoryError as error:
        raise CommandFailed(f"{file} is neither a journal nor an export: {error}") from error
    except (ValueError, RecursionError) as error:
        raise CommandFailed(f"{file} cannot be parsed: {error}.") from error
    return dict(document), record


def _ended(record: "Record", *, is_maximised: bool) -> Iterator[dict[str, Any]]:
    """Yield the trials that teach something, in the order in which they ended."""
    from thiessen.search.history import as_asked

    latest: dict[int, Observed] = {}
    for each in record.observations:
        latest.pop(each.trial, None)
        latest[each.trial] = each
    asked = {each.seq: told.to_json() for each, told in as_asked(record.space, record.observations)}
    for number, end in latest.items():
        value = end.loss if end.loss is None or not is_maximised else -end.loss
        outcomes = {
            "succeeded": {"value": value},
            "diverged": {"diverged": "too large"},
            "pruned": {"pruned": True, "value": value},
        }
        if end.outcome in outcomes:
            told = asked.get(end.seq, {"config": record.trials[number].config})
            yield {**told, "outcome": outcomes[end.outcome]}
