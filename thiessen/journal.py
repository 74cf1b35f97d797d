"""A study kept in one file, without a server: a line of JSON for each thing that happened.

The first line is the study. Each other is a trial, written when it is begun, or an observation, written when
it has ended. What `keep` returned from survives a power cut. A process that is killed leaves at most one line
that is not whole; it was never acknowledged, and the next one who opens the file cuts it off.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Self

from thiessen.errors import JournalError, JournalInUse

FORMAT: Final = 1  # raised when an older reader would misread it

Entry = dict[str, Any]


class Memory:
    """The lines of a journal that somebody else puts on a disk, all at once."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def keep(self) -> None:
        """It is kept as well as it ever will be."""

    def written(self) -> Sequence[Entry]:
        """Return all lines."""
        return self.entries

    def close(self) -> None:
        """There is nothing to let go of."""


class Journal:
    """The lines of one file, which nobody else writes meanwhile. Raises JournalInUse, JournalError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        is_new = not path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
        except OSError as error:
            raise JournalError(f"cannot write {path}: {error.strerror}. Give another file.") from error
        try:
            _lock(self._file.fileno(), path)
            self.entries = self._read()
        except BaseException:
            self._file.close()
            raise
        if is_new:
            _keep_name(path.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def add(self, entry: Entry) -> None:
        """Write a line. It may be lost until `keep` returns."""
        self._file.write(line(entry))

    def keep(self) -> None:
        """Return when all that was added is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def written(self) -> Sequence[Entry]:
        """Return all lines as they are in the file, also when it was closed here. Raises JournalError."""
        if not self._file.closed:
            self._file.flush()
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise JournalError(f"cannot read {self.path}: {error.strerror}.") from error
        return self._parsed(content[: content.rfind(b"\n") + 1])

    def close(self) -> None:
        """Close the file, and let others write it."""
        self._file.close()

    def abandon(self) -> None:
        """Close the file, and leave none behind where nothing was written."""
        self._file.flush()
        if self.path.exists() and not self.path.stat().st_size:
            self.path.unlink()
        self.close()

    def _read(self) -> list[Entry]:
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        return self._parsed(whole)

    def _parsed(self, whole: bytes) -> list[Entry]:
        return [self._entry(number, text) for number, text in enumerate(whole.splitlines(), start=1)]

    def _entry(self, number: int, text: bytes) -> Entry:
        try:
            entry = json.loads(text)
        except ValueError as error:
            raise self.misread(number, f"it is not JSON ({error})") from error
        if not isinstance(entry, dict):
            raise self.misread(number, "it is no JSON object")
        return entry

    def misread(self, number: int, why: str) -> JournalError:
        """Return the error of a line that is not what it should be."""
        return JournalError(
            f"line {number} of {self.path} cannot be read: {why}. Is it a journal of Thiessen? If the line "
            "was damaged, cut the file before it: what comes later is tried again."
        )


def line(entry: Entry) -> bytes:
    """Return an entry as it stands in a journal."""
    return json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def parsed(text: str) -> Entry:
    """Return the document of a journal's text. Raises ValueError.

    A last line that is not whole was never acknowledged.
    """
    entries = [json.loads(each) for each in text[: text.rfind("\n") + 1].splitlines()]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("a journal is lines of JSON objects")
    return document(entries)


def document(entries: Sequence[Entry]) -> Entry:
    """Return the lines of a journal as the document of a study, with how many trials it is to have."""
    budgets = [entry["trials"] for entry in entries if "trials" in entry]
    return {
        **(entries[0] if entries else {}),
        "budget": budgets[-1] if budgets else None,
        "trials": [entry["trial"] for entry in entries if "trial" in entry],
        "observations": [entry["observation"] for entry in entries if "observation" in entry],
    }


def _keep_name(folder: Path) -> None:
    """Return when a new file of this folder survives a power cut by its name."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    """Keep others from the file until it is closed, which the end of a process does too."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise JournalInUse(
            f"{path} is written by another process. Wait for its end, or give another journal; many "
            "processes share a study through a server (thiessen serve)."
        ) from error
