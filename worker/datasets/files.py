"""Where the files of a data set are looked for, and what tells one file from another."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from worker.datasets.dataset import DataAbsent


def usual_folder() -> Path:
    """Return the folder of the user's data files: `THIESSEN_DATA_DIR`, else one under the XDG data folder."""
    if chosen := os.environ.get("THIESSEN_DATA_DIR"):
        return Path(chosen).expanduser()
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "thiessen" / "datasets"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The files of a data set, in each form in which it is published."""

    title: str
    forms: tuple[tuple[str, ...], ...]  # patterns; all of one form make the data set
    obtain: str

    def found(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of the first form that is there whole. Raises DataAbsent with what to do."""
        for form in self.forms:
            files = [next(iter(sorted(folder.glob(pattern))), None) for pattern in form]
            whole = tuple(file for file in files if file is not None)
            if len(whole) == len(form):
                return whole
        names = "; or ".join(", ".join(form) for form in self.forms)
        raise DataAbsent(
            f"{self.title} is not in {folder}: looked for {names}. {self.obtain} Put the files there, or "
            "name their folder in THIESSEN_DATA_DIR."
        )


def checksum(files: Sequence[Path]) -> str:
    """Return a SHA-256 that files share only with files of the same content in the same order."""
    digests = [_digest(file, *_stamp(file)) for file in files]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


@cache  # a child process trains many trials on the same file
def _digest(file: Path, size: int, changed: int) -> str:
    del size, changed  # they tell when the file is another one
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
