from types import SimpleNamespace

import pytest
import torch

from thiessen.contract import Slot
from worker.devices import NoSuchDevice, available, chosen, described, inside, joined, threads, visible


def test_a_machine_without_accelerators_trains_on_its_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)

    assert available() == chosen("auto") == ["cpu"]


def test_every_accelerator_is_a_device_and_the_cpu_is_left_in_peace(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)

    assert chosen("auto") == ["cuda:0", "cuda:1"]
    assert chosen("cuda:1, cpu") == ["cuda:1", "cpu"]
    assert chosen("cuda:0,1") == ["cuda:0", "cuda:1"]
    assert chosen("cuda:0+1,cpu") == ["cuda:0+1", "cpu"]
    assert chosen("cuda:1", slots_per_device=2) == ["cuda:1", "cuda:1"]


@pytest.mark.parametrize("wish", ["cuda:7", "cuda:0,7", "cuda:0+7", "cpu+0", "gpu", "", ","])
def test_a_device_that_is_not_here_is_refused_naming_those_that_are(wish):
    with pytest.raises(NoSuchDevice, match=r"this machine has .*cpu"):
        chosen(wish)


def test_what_a_study_may_require_of_a_device_is_told(monkeypatch):
    cards = {
        "cuda:0": SimpleNamespace(total_memory=16e9),
        "cuda:1": SimpleNamespace(total_memory=84_974_239_744),
    }
    monkeypatch.setattr(torch.cuda, "get_device_properties", cards.get)

    assert described("cuda:1") == Slot(name="cuda:1", gpus=1, gpu_memory_gb=84.974)
    assert described("cuda:0+1") == Slot(name="cuda:0,cuda:1", gpus=2, gpu_memory_gb=16.0)
    assert described("mps") == Slot(name="mps", gpus=1)
    assert described("cpu") == Slot(name="cpu", gpus=0)


@pytest.mark.row(274)
def test_one_slot_may_span_all_gpus_of_a_machine():
    assert joined(["cuda:0", "cuda:1"]) == "cuda:0+1"
    assert joined(["cuda:0"]) == "cuda:0"
    assert joined(["cpu"]) == "cpu"


@pytest.mark.row(274)
def test_slots_share_the_cores():
    assert threads(10**6) == 1
    assert threads(1) >= threads(2) >= 1


@pytest.mark.row(274)
def test_a_child_sees_the_gpus_of_its_slot_alone_by_their_own_names():
    assert visible("cuda:0+1", None) == "0,1"
    assert visible("cuda:1", "GPU-a, GPU-b") == "GPU-b"  # the numbers are those that this process sees
    assert visible("cpu", "0,1") == ""
    assert (inside("cuda:1"), inside("cpu")) == ("cuda:0", "cpu")


def test_a_gpu_may_not_be_twice_in_one_slot(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)

    with pytest.raises(NoSuchDevice, match=r"'cuda:0\+0'"):
        chosen("cuda:0+0")
