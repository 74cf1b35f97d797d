"""What was decoded once is kept as files that all processes of a machine map: they share its memory.

A kept data set is a folder, which appears whole or not at all. Its `content.json` says how long each file is
and when it was written; files that say otherwise are not trusted, and the folder is made anew.
"""

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from worker.datasets.dataset import Content

NOTE: Final = "content.json"

log = logging.getLogger("thiessen.worker")


def usual_folder() -> Path:
    """Return where this user's data sets are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "thiessen" / "datasets"


def kept(key: str, make: Callable[[], Content]) -> Content:
    """Return what `make` makes, which runs once on this machine however many processes ask.

    The arrays are private copies as soon as they are written to: neither the file nor another process sees
    it. Where nothing can be kept, the log says so and every process makes its own.
    """
    folder = usual_folder() / key
    if (content := _mapped(folder)) is not None:
        return content
    with ExitStack() as stack:
        try:
            stack.enter_context(_alone(folder))
        except OSError as error:
            _warn(folder, error)
            return make()
        return _mapped(folder) or _keep(folder, make())


def _keep(folder: Path, content: Content) -> Content:
    part = folder.with_name(f"{folder.name}.part")
    try:
        _write(part, content)
        shutil.rmtree(folder, ignore_errors=True)  # it is damaged, if it is there
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        _warn(folder, error)
    return _mapped(folder) or content


def _write(folder: Path, content: Content) -> None:
    """Write a content; all of it is on the disk when this returns. Raises OSError."""
    shutil.rmtree(folder, ignore_errors=True)  # a process that was killed may have left it
    folder.mkdir()
    for name, array in content.arrays.items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, array)
            os.fsync(file.fileno())
    stamps = {name: _stamp(folder / f"{name}.npy") for name in content.arrays}
    with (folder / NOTE).open("w") as file:
        json.dump({"stamps": stamps, "held_back": content.held_back, "origin": content.origin}, file)
        file.flush()
        os.fsync(file.fileno())


def _mapped(folder: Path) -> Content | None:
    """Return the content of a folder, mapped; None unless it is there and as it was written."""
    try:
        note = json.loads((folder / NOTE).read_text())
        files = {name: folder / f"{name}.npy" for name in note["stamps"]}
        if any(_stamp(file) != note["stamps"][name] for name, file in files.items()):
            return None
        arrays = {name: np.load(file, mmap_mode="c") for name, file in files.items()}
        return Content(arrays=arrays, held_back=int(note["held_back"]), origin=str(note["origin"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _stamp(file: Path) -> list[int]:
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time make a folder; the lock of one that dies is free. Raises OSError."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _warn(folder: Path, error: OSError) -> None:
    log.warning(
        "%s cannot be kept: %s; every process decodes and holds it by itself. "
        "Set XDG_CACHE_HOME to a folder that can be written to.",
        folder,
        error.strerror or error,
    )
