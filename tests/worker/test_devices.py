from types import SimpleNamespace

import pytest
import torch

from thiessen.contract import Slot
from worker.devices import NoSuchDevice, available, chosen, described, threads


def test_a_machine_without_accelerators_trains_on_its_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)

    assert available() == chosen("auto") == ["cpu"]


def test_every_accelerator_is_a_device_and_the_cpu_is_left_in_peace(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)

    assert chosen("auto") == ["cuda:0", "cuda:1"]
    assert chosen("cuda:1, cpu") == ["cuda:1", "cpu"]


@pytest.mark.parametrize("wish", ["cuda:7", "gpu", "", ","])
def test_a_device_that_is_not_here_is_refused_naming_those_that_are(wish):
    with pytest.raises(NoSuchDevice, match=r"this machine has .*cpu"):
        chosen(wish)


def test_what_a_study_may_require_of_a_device_is_told(monkeypatch):
    card = SimpleNamespace(total_memory=84_974_239_744)
    monkeypatch.setattr(torch.cuda, "get_device_properties", {"cuda:1": card}.get)

    assert described("cuda:1") == Slot(name="cuda:1", gpus=1, gpu_memory_gb=84.974)
    assert described("mps") == Slot(name="mps", gpus=1)
    assert described("cpu") == Slot(name="cpu", gpus=0)


def test_slots_share_the_cores():
    assert threads(10**6) == 1
    assert threads(1) >= threads(2) >= 1
