"""What the worker's room contributes to `thiessen doctor`."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from thiessen.cli.checks import Asked, Finding, on_disk

ON_ITS_WAY_SECONDS: Final = 60.0


def checks(asked: Asked) -> Iterator[Finding]:
    """Yield what is found of devices, tasks, data sets and the folders of this user."""
    del asked
    import psutil  # noqa: F401 - without it there is no worker
    import sklearn  # noqa: F401

    from worker.spool import state_folder, usual_folder

    yield _devices()
    yield from _tasks()
    yield _data_sets()
    yield on_disk(
        "worker's folder", state_folder(), "Make room, or choose another --spool-dir and --checkpoint-dir."
    )
    yield _spool(usual_folder())


def _spool(folder: Path) -> Finding:
    """Say which results wait for which server; those of a moment ago are on their way."""
    from worker.spool import kept_in

    waiting = Counter(
        result.server
        for _, written, result in kept_in(folder)
        if result is not None and result.ending is not None and time.time() - written > ON_ITS_WAY_SECONDS
    )
    if not waiting:
        return Finding("spool", "ok", f"no result waits in {folder}.")
    told = "; ".join(f"{number} for {server}" for server, number in waiting.items())
    cure = f"A worker delivers them: thiessen worker --server {next(iter(waiting))}"
    return Finding("spool", "warning", f"results that no server has wait in {folder}: {told}.", cure)


def _devices() -> Finding:
    from worker.devices import available, model

    here = available()
    told = ", ".join(f"{device} ({name})" if (name := model(device)) else device for device in here)
    if shutil.which("nvidia-smi") and not any(device.startswith("cuda") for device in here):
        cure = "Install torch built for CUDA, and look at what nvidia-smi says."
        return Finding(
            "devices", "warning", f"{told}; there is NVIDIA's driver, and torch sees no GPU.", cure
        )
    return Finding("devices", "ok", told)


def _tasks() -> Iterator[Finding]:
    """Yield those that load as one finding, and each that does not."""
    names = []
    for entry in entry_points(group="thiessen.tasks"):
        try:
            names.append(entry.load().name)
        except Exception as error:  # noqa: BLE001 - somebody else's module may raise anything
            told = f"{entry.name} cannot be loaded from {entry.value}: {type(error).__name__}: {error}"
            yield Finding("tasks", "fault", told, "Mend or uninstall its package.")
    yield Finding("tasks", "ok", ", ".join(sorted(names)) or "none is installed.")


def _data_sets() -> Finding:
    from worker.datasets.files import usual_folder

    folder = usual_folder()
    try:
        files = sum(each.is_file() for each in folder.rglob("*"))
    except OSError as error:
        told, cure = f"{folder} cannot be read: {error.strerror}.", "Set THIESSEN_DATA_DIR to another folder."
        return Finding("data sets", "fault", told, cure)
    if not files:
        return Finding("data sets", "ok", f"no files in {folder}: those that need files have substitutes.")
    return Finding("data sets", "ok", f"{files} files in {folder}.")
