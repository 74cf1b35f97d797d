"""What this machine can train on."""

import os
import re
from collections.abc import Sequence
from typing import Final

import torch

from thiessen.contract import Slot

SPAN: Final = "+"  # joins the GPUs of one slot, as in cuda:0+1


class NoSuchDevice(ValueError):  # noqa: N818 - says what happened
    """A device that was asked for and is not here."""


def chosen(wish: str, slots_per_device: int = 1) -> list[str]:
    """Return the device of each slot, for a wish such as 'auto', 'cpu', 'cuda:0,1' or 'cuda:0+1'.

    Raises NoSuchDevice.
    """
    here = available()
    names = [device for device in here if device != "cpu"] or ["cpu"]
    if wish != "auto":
        names = [_full(name) for name in _each(wish)] or [wish]
    for name in names:
        parts = members(name)
        if any(part not in here for part in parts) or len(set(parts)) < len(parts):
            raise NoSuchDevice(f"{name!r} is not here; this machine has {', '.join(here)}. Or say auto.")
    return [name for name in names for _ in range(slots_per_device)]


def available() -> list[str]:
    """Return every device of this machine, accelerators first."""
    found = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return [*found, "cpu"]


def members(device: str) -> list[str]:
    """Return the devices that a slot spans: of 'cuda:0+1' cuda:0 and cuda:1."""
    kind, _, numbers = device.partition(":")
    return [f"{kind}:{number}" for number in numbers.split(SPAN)] if numbers else [device]


def joined(devices: Sequence[str]) -> str:
    """Return the device of one slot that spans them: of cuda:0 and cuda:1 'cuda:0+1', else the first."""
    if not devices[0].startswith("cuda"):
        return devices[0]
    return "cuda:" + SPAN.join(device.partition(":")[2] for device in devices)


def threads(slots: int) -> int:
    """Return how many threads one of so many slots may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores // slots, 1)


def described(device: str) -> Slot:
    """Return what a study may require of a slot; the memory of its GPUs, of each, is known of CUDA alone."""
    parts = members(device)
    if not device.startswith("cuda"):
        return Slot(name=device, gpus=0 if device == "cpu" else 1)
    memory = min(torch.cuda.get_device_properties(part).total_memory for part in parts)
    return Slot(name=",".join(parts), gpus=len(parts), gpu_memory_gb=round(memory / 1e9, 3))


def model(device: str) -> str | None:
    """Return what the maker calls the GPUs of a slot; None for other devices."""
    if not device.startswith("cuda"):
        return None
    return ", ".join(torch.cuda.get_device_properties(part).name for part in members(device))


def inside(device: str) -> str:
    """Return the name of a slot's first device in its child process, which sees no other slot's GPUs."""
    return "cuda:0" if device.startswith("cuda") else device


def visible(device: str, to_us: str | None) -> str:
    """Return the CUDA_VISIBLE_DEVICES of a slot's child, given our own; without GPUs it sees none."""
    if not device.startswith("cuda"):
        return ""
    ours = [name.strip() for name in to_us.split(",")] if to_us else None
    numbers = [int(part.partition(":")[2]) for part in members(device)]
    return ",".join(str(number) if ours is None else ours[number] for number in numbers)


def _each(wish: str) -> list[str]:
    return [name for name in map(str.strip, wish.split(",")) if name]


def _full(name: str) -> str:
    """Return the whole name: a number alone, as the second of 'cuda:0,1', is one of CUDA."""
    return f"cuda:{name}" if re.fullmatch(r"[0-9]+(\+[0-9]+)*", name) else name
