"""What this machine can train on."""

import os

import torch

from thiessen.contract import Slot


class NoSuchDevice(ValueError):  # noqa: N818 - says what happened
    """A device that was asked for and is not here."""


def chosen(wish: str) -> list[str]:
    """Return the devices of a wish such as 'auto', 'cpu' or 'cuda:0,cuda:1'. Raises NoSuchDevice."""
    here = available()
    if wish == "auto":
        accelerators = [device for device in here if device != "cpu"]
        return accelerators or ["cpu"]
    names = [name.strip() for name in wish.split(",") if name.strip()]
    for name in names or [wish]:
        if name not in here:
            raise NoSuchDevice(f"{name!r} is not here; this machine has {', '.join(here)}. Or say auto.")
    return names


def available() -> list[str]:
    """Return every device of this machine, accelerators first."""
    found = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return [*found, "cpu"]


def threads(slots: int) -> int:
    """Return how many threads one of so many slots may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores // slots, 1)


def described(device: str) -> Slot:
    """Return what a study may require of a device; how much memory one has is known of CUDA alone."""
    if not device.startswith("cuda"):
        return Slot(name=device, gpus=0 if device == "cpu" else 1)
    memory = torch.cuda.get_device_properties(device).total_memory
    return Slot(name=device, gpus=1, gpu_memory_gb=round(memory / 1e9, 3))
