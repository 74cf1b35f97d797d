"""The program of a process that computes proposals again: it reads a record, and writes what came of it.

It has nothing but that record: no database, nothing that a server remembers.
"""

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any, Final

from thiessen.integrations import KNOWN
from thiessen.search import HistoryError, NotReplayable
from thiessen.search.record import Record

MOST_TOLD: Final = 10


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """What came of a replay."""

    proposed: int = 0
    matching: int = 0
    mismatches: list[str]  # the first ones, each in a sentence
    replayable: bool = True
    why: str | None = None  # it is not


def recompute(document: Any) -> Replayed:
    """Compute the proposals of a record again and compare them."""
    try:
        record = Record.from_json(document, KNOWN)
    except HistoryError as error:
        return Replayed(mismatches=[], replayable=False, why=str(error))
    matching = 0
    told: list[str] = []
    try:
        for mismatches in record.replay():
            matching += not mismatches
            if mismatches and len(told) < MOST_TOLD:
                told.append(str(mismatches[0]))
    except (NotReplayable, HistoryError) as error:
        return Replayed(proposed=record.proposals, mismatches=[], replayable=False, why=str(error))
    return Replayed(proposed=record.proposals, matching=matching, mismatches=told)


if __name__ == "__main__":
    json.dump(asdict(recompute(json.load(sys.stdin))), sys.stdout)
