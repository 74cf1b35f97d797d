"""What a result may depend on besides config and seed, as it is kept with each attempt."""

import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch

from thiessen.version import __version__
from worker import devices
from worker.functions import source
from worker.tasks import Task

GIT_SECONDS: Final = 5.0
MOST_TEXT: Final = 200  # characters, as the wire takes them


def environment(device: str, threads: int, sources: dict[str, str]) -> dict[str, str]:
    """Return versions, device, threads, and the state of the tasks' sources in git."""
    found = {
        "thiessen": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "cuda": torch.version.cuda if device.startswith("cuda") else None,
        "gpu": devices.model(device),
        "platform": platform.platform(),
        "threads": str(threads),
        **sources,
    }
    return {name: text[:MOST_TEXT] for name, text in found.items() if text}


def sources(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the commit of each task whose source git follows, and whether it was changed since.

    As `git`, or as `git of TASK` where they differ. Never fails: without git there is nothing to say.
    """
    states = {task.name: state for task in tasks if (file := source(task)) and (state := _state(file))}
    if len(set(states.values())) == 1:
        return {"git": next(iter(states.values()))}
    return {f"git of {name}": state for name, state in list(states.items())[:20]}


def _state(file: Path) -> str | None:
    if _git(file, "ls-files", "--error-unmatch", "--", file.name) is None:  # it only lies in a repository
        return None
    commit = _git(file, "rev-parse", "HEAD")
    changes = _git(file, "status", "--porcelain", "--untracked-files=no")
    if commit is None or changes is None:
        return None
    return f"{commit} with changes" if changes else commit


def _git(file: Path, *command: str) -> str | None:
    """Return what git says of the folder of a file; None when it says nothing of use."""
    try:
        ran = subprocess.run(  # noqa: S603 # nosec B603 B607 - fixed words and a file's name
            ["git", "-C", str(file.parent), *command],  # noqa: S607 - the user's git, wherever it is
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None
