"""What `thiessen doctor` asks of every room, and what a room answers.

A room, or any package, contributes by the entry point group `thiessen.checks`: a function that takes `Asked`
and yields findings.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

LITTLE: Final = 2 * 10**9  # bytes
TOO_LITTLE: Final = 10**8


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a person wants to be looked at."""

    server: str | None
    token: str | None
    database: str | None


@dataclass(frozen=True)
class Finding:
    """What came of one check."""

    check: str
    state: Literal["ok", "warning", "fault"]
    told: str
    cure: str = ""


def on_disk(check: str, folder: Path, cure: str) -> Finding:
    """Say whether a folder that may be made still can be written, and has room."""
    folder = folder.absolute()
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Finding(check, "fault", f"{folder} cannot be written.", cure)
    free = shutil.disk_usage(there).free
    told = f"{folder} has {free / 1e9:.1f} GB free."
    if free < TOO_LITTLE:
        return Finding(check, "fault", told, cure)
    return Finding(check, "warning", told, cure) if free < LITTLE else Finding(check, "ok", told)
