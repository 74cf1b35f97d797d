"""Checkpoints: what a training needs to go on where an earlier attempt stopped, bit for bit.

A file's name holds the step and the digest of what is in it, so that one half written, or damaged later, is
known as such. It appears by a rename, when it is whole; the one before stays beside it.
"""

import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from worker.disk import flush, opened
from worker.tasks.task import Released

SUFFIX: Final = ".checkpoint"
KEPT: Final = 2  # of a trial: the last, and the one before
FORGOTTEN_DAYS: Final = 30  # of a trial that ended elsewhere, or for good by a fault


def key(**identity: object) -> str:
    """Return a name that only the same trial of the same server has."""
    text = json.dumps(identity, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def left(folder: Path, name: str) -> list[Path]:
    """Return the checkpoints of a trial, the last first."""
    return sorted(folder.glob(f"{name}.*{SUFFIX}"), key=_step, reverse=True)


def remove(folder: Path, name: str) -> None:
    """Remove the checkpoints of a trial, those half written too. Raises OSError."""
    for file in (*left(folder, name), *folder.glob(f"{name}.*.part")):
        file.unlink(missing_ok=True)


def forget(folder: Path) -> None:
    """Remove what nobody has touched for so long that its trial must have ended."""
    oldest = time.time() - FORGOTTEN_DAYS * 24 * 3600
    for file in (*folder.glob(f"*{SUFFIX}"), *folder.glob("*.part")):
        try:
            if file.lstat().st_mtime < oldest:
                file.unlink(missing_ok=True)
        except FileNotFoundError:  # another worker has just removed it
            continue
        except OSError as error:  # another user's, or no file at all
            _say(f"{file} is left alone: {error}")


class Checkpoint:
    """What a task may do with the checkpoints of its trial; see worker.tasks.Context."""

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        seconds: float,
        is_leaving: Callable[[], bool],
        tell: Callable[[], None],
    ) -> None:
        self._folder = folder
        self._name = name
        self._seconds = seconds
        self._is_leaving = is_leaving
        self._tell = tell  # the worker, that this task keeps checkpoints
        self._saved_at = time.monotonic()
        self._is_tried = False

    @property
    def is_due(self) -> bool:
        """Whether it is time to save: every so many seconds, and at once when the worker stops."""
        self._tell()
        return self._is_leaving() or time.monotonic() - self._saved_at >= self._seconds

    def restore(self, **parts: Any) -> int:
        """Bring the parts to the last checkpoint that is whole; return its step, 0 when there is none.

        Raises ValueError when it holds other parts than these.
        """
        self._tell()
        for file in left(self._folder, self._name):
            state = _read(file)
            if state is not None:
                _restore(state, parts)
                _say(f"goes on after step {state['step']}, from a checkpoint")
                return int(state["step"])
        return 0

    def save(self, step: int, **parts: Any) -> None:
        """Keep the parts and the state of the global random numbers, whole or not at all.

        A disk that takes no more is said aloud, and the training goes on. Raises Released when the worker
        stops, and TypeError for a part that cannot be kept.
        """
        self._tell()
        self._saved_at = time.monotonic()
        try:
            self._write(_state(step, parts))
        except OSError as error:
            _say(f"no checkpoint of step {step}: {error}")
            return
        _say(f"saved a checkpoint of step {step}")
        if self._is_leaving():
            raise Released

    def _write(self, state: Mapping[str, Any]) -> None:
        part = self._folder / f"{self._name}.{os.getpid()}.part"
        part.unlink(missing_ok=True)  # a process of this number was killed here
        try:
            with part.open("xb") as written:  # never through a link that somebody has put there
                torch.save(state, written)
                written.flush()
                os.fsync(written.fileno())
            self._try(part)
            part.replace(self._folder / f"{self._name}.{state['step']:016d}.{_digest(part)}{SUFFIX}")
        finally:
            part.unlink(missing_ok=True)
        flush(self._folder)
        # What says that it is of a later step is not ours, and pushes nothing of ours out.
        before = [file for file in left(self._folder, self._name) if _step(file) <= f"{state['step']:016d}"]
        for file in before[KEPT:]:
            with suppress(OSError):  # this step is saved, whatever that is
                file.unlink(missing_ok=True)

    def _try(self, file: Path) -> None:
        """Raise TypeError when what was saved first cannot be read again: better now than after a crash."""
        if self._is_tried:
            return
        try:
            torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:
            raise TypeError(
                f"a checkpoint holds tensors, numbers, texts and collections of them, nothing else: {error}"
            ) from error
        self._is_tried = True


def _state(step: int, parts: Mapping[str, Any]) -> dict[str, Any]:
    saved = {name: _saved(name, part) for name, part in parts.items()}
    return {"step": step, "parts": saved, "random": _random()}


def _saved(name: str, part: Any) -> Any:
    if isinstance(part, torch.Generator):
        return part.get_state()
    if not hasattr(part, "state_dict") or not hasattr(part, "load_state_dict"):
        raise TypeError(
            f"{name!r} cannot be kept: a part has state_dict and load_state_dict, or is a generator."
        )
    return part.state_dict()


def _restore(state: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    if set(state["parts"]) != set(parts):
        raise ValueError(
            f"the checkpoint holds {sorted(state['parts'])}, not {sorted(parts)}: restore what was saved. "
            "Raise the version of a task that saves something else than before."
        )
    for name, part in parts.items():
        if isinstance(part, torch.Generator):
            part.set_state(state["parts"][name])
        else:
            part.load_state_dict(state["parts"][name])
    _set_random(state["random"])


def _random() -> dict[str, Any]:
    """Return the state of every global generator, as tensors, numbers and tuples."""
    kind, words, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - tasks may use it
    return {
        "python": random.getstate(),
        "numpy": (kind, [int(word) for word in words], *rest),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def _set_random(state: Mapping[str, Any]) -> None:
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.device_count() == len(state["cuda"]):
        torch.cuda.set_rng_state_all(state["cuda"])


def _read(file: Path) -> dict[str, Any] | None:
    """Return what a checkpoint holds; None, said aloud, when it is damaged."""
    try:
        with opened(file) as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != file.name.split(".")[2]:
                _say(f"the checkpoint {file} is left out: it is not what was written")
                return None
            content.seek(0)
            state: dict[str, Any] = torch.load(content, map_location="cpu", weights_only=True)
        if set(state) != {"step", "parts", "random"}:
            _say(f"the checkpoint {file} is left out: it is not one of ours")
            return None
    except Exception as error:  # noqa: BLE001 - a damaged file may raise anything
        _say(f"the checkpoint {file} is left out: {error}")
        return None
    return state


def _step(file: Path) -> str:
    return file.name.split(".")[1]  # of fixed width


def _digest(file: Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()


def _say(sentence: str) -> None:
    sys.stderr.write(f"thiessen: {sentence}\n")
