import random

import numpy as np
import pytest
import torch

from tests.conftest import wait_until
from worker import checkpoint
from worker.checkpoint import Checkpoint
from worker.tasks import Released


@pytest.fixture
def keeping(tmp_path):
    """Returns what a task is given, as in a new process each time."""

    def make(name="trial", *, seconds=60.0, is_leaving=False):
        return Checkpoint(tmp_path, name, seconds=seconds, is_leaving=lambda: is_leaving, tell=lambda: None)

    return make


def a_model(seed):
    torch.manual_seed(seed)
    return torch.nn.Linear(3, 2)


def test_a_model_is_brought_to_where_it_was_saved(keeping):
    saved, other = a_model(1), a_model(2)
    keeping().save(7, model=saved)

    assert keeping().restore(model=other) == 7
    assert torch.equal(saved.weight, other.weight)


def test_without_a_checkpoint_nothing_changes_and_the_step_is_zero(keeping):
    model = a_model(1)

    assert keeping().restore(model=model) == 0
    assert torch.equal(model.weight, a_model(1).weight)


@pytest.mark.row(272)
def test_every_random_number_after_a_restore_is_the_one_that_followed(keeping):
    batches = torch.Generator().manual_seed(5)
    keeping().save(1, batches=batches)

    def drawn():
        legacy = np.random.rand()  # noqa: NPY002 - the global state is the point
        return random.random(), legacy, torch.rand(()).item(), torch.rand((), generator=batches).item()

    expected = drawn()
    drawn()
    keeping().restore(batches=batches)

    assert drawn() == expected


def test_the_last_two_are_kept_and_the_last_is_taken(keeping, tmp_path):
    for step in (1, 2, 10):
        keeping().save(step, model=a_model(step))

    assert [int(file.name.split(".")[1]) for file in checkpoint.left(tmp_path, "trial")] == [10, 2]
    assert keeping().restore(model=a_model(0)) == 10


@pytest.mark.row(272)
@pytest.mark.parametrize(
    "damage", [lambda whole: whole[: len(whole) // 2], lambda whole: whole[:-1] + b"!", lambda _: b""]
)
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_taken(keeping, tmp_path, capsys, damage):
    keeping().save(1, model=a_model(1))
    keeping().save(2, model=a_model(2))
    last = checkpoint.left(tmp_path, "trial")[0]
    last.write_bytes(damage(last.read_bytes()))
    model = a_model(0)

    assert keeping().restore(model=model) == 1
    assert torch.equal(model.weight, a_model(1).weight)
    assert f"{last} is left out" in capsys.readouterr().err


def test_a_checkpoint_cut_short_by_a_kill_leaves_the_one_before(keeping, monkeypatch):
    keeping().save(1, model=a_model(1))

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", killed)
        with pytest.raises(KeyboardInterrupt):
            keeping().save(2, model=a_model(2))

    assert keeping().restore(model=a_model(0)) == 1


@pytest.mark.row(272)
def test_what_is_loaded_is_never_run(keeping, tmp_path):
    class Evil:
        def __reduce__(self):
            return (exec, ("raise SystemExit",))

    file = tmp_path / "written.part"
    torch.save({"step": 1, "parts": {"model": Evil()}, "random": {}}, file)
    file.rename(tmp_path / f"trial.{1:016d}.{checkpoint._digest(file)}.checkpoint")

    assert keeping().restore(model=a_model(1)) == 0


def test_what_could_not_be_loaded_is_refused_when_it_is_saved_first(keeping, tmp_path):
    class Strange(torch.nn.Module):
        def get_extra_state(self):
            return random.Random(1)

        def set_extra_state(self, state):
            pass

    with pytest.raises(TypeError, match="holds tensors, numbers"):
        keeping().save(1, model=Strange())
    assert list(tmp_path.iterdir()) == []


def test_a_part_without_a_state_is_refused(keeping):
    with pytest.raises(TypeError, match="'length' cannot be kept"):
        keeping().save(1, length=3)


def test_a_checkpoint_of_other_parts_is_refused_with_the_cure(keeping):
    keeping().save(1, model=a_model(1))

    with pytest.raises(ValueError, match=r"holds \['model'\], not \['net'\].*version"):
        keeping().restore(net=a_model(1))


def test_a_disk_that_takes_no_more_is_named_and_the_training_goes_on(keeping, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)

    keeping().save(1, model=a_model(1))

    assert "no checkpoint of step 1: [Errno 28] No space left" in capsys.readouterr().err


def test_it_is_due_after_so_many_seconds_and_at_once_when_the_worker_stops(keeping):
    assert not keeping().is_due
    assert keeping(seconds=0.0).is_due
    assert keeping(is_leaving=True).is_due

    often = keeping(seconds=3600.0)
    often._saved_at -= 3601
    assert often.is_due
    often.save(1, model=a_model(1))
    assert not often.is_due


def test_told_to_leave_a_task_leaves_when_its_state_is_kept(keeping):
    with pytest.raises(Released):
        keeping(is_leaving=True).save(3, model=a_model(1))

    assert keeping().restore(model=a_model(0)) == 3


def test_no_other_trial_gets_a_checkpoint():
    known = {"server": "http://a", "project": "default", "study": "s", "trial": 0, "config": {"lr": 0.1}}
    others = [known | {"server": "http://b"}, known | {"config": {"lr": 0.2}}, known | {"trial": 1}]

    keys = {checkpoint.key(**identity) for identity in (known, *others)}

    assert len(keys) == 4
    assert checkpoint.key(**dict(reversed(known.items()))) in keys


def test_what_nobody_touched_for_long_is_forgotten(keeping, tmp_path, monkeypatch):
    keeping("old").save(1, model=a_model(1))
    monkeypatch.setattr(checkpoint, "FORGOTTEN_DAYS", -1)
    checkpoint.forget(tmp_path)

    assert list(tmp_path.iterdir()) == []


def trains(optimizer):
    return {
        "seconds": {"type": "float", "low": 0.1, "high": 0.1},
        "optimizer": {"type": "categorical", "choices": [optimizer]},
        "x": {"type": "float", "low": 0.0, "high": 1.0},
    }


def test_a_training_that_was_interrupted_ends_with_the_same_loss_bit_for_bit(server, work, a_study, tmp_path):
    for optimizer in ("sgd", "adam"):
        server.create_study(a_study("trains", name=optimizer, space=trains(optimizer), seed=3))
    options = ("--slots-per-device", "2", "--threads", "1", "--checkpoint-dir", str(tmp_path / "checkpoints"))
    first = work(server, *options)
    wait_until(
        lambda: all(
            server.study(name).counts.running and last(server, name).reports for name in ("sgd", "adam")
        )
    )
    first.terminate()
    assert first.wait(120) == 0
    for optimizer in ("sgd", "adam"):
        server.create_study(a_study("trains", name=f"{optimizer}-whole", space=trains(optimizer), seed=3))

    assert work(server, *options, "--idle-exit", "0.5").wait(120) == 0

    for name in ("sgd", "adam"):
        released, resumed = server.trial(name, 0).attempts
        assert (released.outcome, resumed.outcome) == ("released", "succeeded")
        assert resumed.reports[0].step == released.reports[-1].step + 1
        assert server.trial(name, 0).value == server.trial(f"{name}-whole", 0).value
    assert list((tmp_path / "checkpoints").iterdir()) == []


def last(client, study):
    return client.trial(study, 0).attempts[-1]


def test_a_second_attempt_without_a_checkpoint_says_that_it_begins_at_zero(server, work, a_study):
    server.create_study(a_study("raises", max_attempts=2))

    assert work(server, "--idle-exit", "0.5").wait(120) == 0

    first, second = server.trial("raises", 0).attempts
    assert "begins at 0" not in (first.log_tail or "")
    assert "attempt 2 begins at 0: no checkpoint is in" in second.log_tail


def test_a_study_of_the_same_name_never_gets_the_checkpoints_of_the_one_before(
    server, work, a_study, tmp_path
):
    spec = a_study("trains", space=trains("sgd"), seed=3)
    options = ("--checkpoint-dir", str(tmp_path / "checkpoints"))
    server.create_study(spec)
    worker = work(server, *options)
    wait_until(lambda: server.study("trains").counts.running and last(server, "trains").reports)
    worker.terminate()
    assert worker.wait(120) == 0
    assert list((tmp_path / "checkpoints").iterdir())
    server.delete_study("trains", purge=True)
    server.create_study(spec)

    assert work(server, *options, "--idle-exit", "0.5").wait(120) == 0

    assert last(server, "trains").reports[0].step == 1
