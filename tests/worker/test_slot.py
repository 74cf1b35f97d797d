from dataclasses import replace

import pytest

from tests.worker.conftest import CPU, STRANGE_TASKS
from thiessen.contract import Failure, Value
from worker import slot as slots
from worker.child import Order
from worker.slot import Slot


@pytest.fixture
def order(monkeypatch, tmp_path):
    """Returns what a slot is to train, of the strange tasks."""
    monkeypatch.syspath_prepend(STRANGE_TASKS)

    def make(task):
        config = {"x": 1.0, "seconds": 0.0}
        task = f"strange_tasks:{task.upper().replace('-', '_')}"
        return Order(task=task, config=config, seed=1, folder=tmp_path, key="key", checkpoint_seconds=60.0)

    return make


@pytest.fixture
def slot():
    opened = Slot(CPU)
    yield opened
    opened.stop()


def trained(slot, order):
    """Return what a training ended with."""
    slot.begin(order)
    return ended(slot)


def ended(slot):
    while True:
        for message in slot.messages(10.0):
            if isinstance(message, Value | Failure):
                return message


def test_a_child_is_replaced_when_it_has_trained_many(slot, order, monkeypatch):
    monkeypatch.setattr(slots, "MOST_TRIALS", 2)

    processes = [trained(slot, order("tells-its-process")).value for _ in range(3)]

    assert processes[0] == processes[1] != processes[2]


def test_a_child_sees_its_own_gpus_alone_and_the_first_has_the_first_number(order):
    opened = Slot(replace(CPU, device="cuda:2+3", visible_gpus="2,3"))

    ending = trained(opened, order("tells-its-surroundings"))

    printed = opened.printed()
    opened.stop()
    assert isinstance(ending, Value)
    assert "INFO on cuda:0 with {'CUDA_VISIBLE_DEVICES': '2,3'" in printed


@pytest.mark.parametrize(("kills", "kind"), [(3, "error"), (4, "out_of_memory")])
def test_a_kill_by_the_kernel_for_want_of_memory_is_told_from_another(
    slot, order, monkeypatch, tmp_path, kills, kind
):
    counts = tmp_path / "vmstat"
    counts.write_text("nr_free_pages 9\noom_kill 3\n")
    monkeypatch.setattr(slots, "KERNEL_COUNTS", counts)
    slot.begin(order("is-killed"))
    counts.write_text(f"nr_free_pages 9\noom_kill {kills}\n")

    assert ended(slot).kind == kind


def test_a_slot_tells_the_memory_of_all_that_a_training_starts(slot, order):
    assert slot.memory() == 0
    trained(slot, order("tells-its-process"))
    alone = slot.memory()

    assert alone > 50_000_000
    assert 0 < slot.proportional_memory() <= alone
