"""What others may have put where a worker keeps results and checkpoints."""

import json
import logging
import os
import time

import pytest
import torch

from thiessen.contract import Value
from worker import checkpoint
from worker.checkpoint import Checkpoint
from worker.spool import Result, Spool

SERVER = "http://127.0.0.1:8000"
STEP = f"{10**15:016d}"  # later than any training gets


def a_result(lease_id="1" * 32):
    return Result(server=SERVER, lease_id=lease_id, name="trial 0 of s, attempt 1", ending=Value(value=0.5))


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "results"
    made.mkdir(mode=0o700)
    return made


def a_pipe(file):
    os.mkfifo(file)


def a_link(file):
    file.with_name("elsewhere").write_text(a_result("2" * 32).model_dump_json())
    file.symlink_to("elsewhere")


def of_another_user(file):
    file.write_text(a_result("2" * 32).model_dump_json())
    os.chown(file, 65534, 65534)


STRANGE = {
    "a pipe": a_pipe,
    "a link": a_link,
    "a link to nothing": lambda file: file.symlink_to("nowhere"),
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a folder": lambda file: file.mkdir(),
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "another document": lambda file: file.write_text('{"server": 1}'),
    "half a document": lambda file: file.write_text(a_result("2" * 32).model_dump_json()[:40]),
    "no text": lambda file: file.write_bytes(b"\xff\x00" * 100),
    "brackets": lambda file: file.write_text("[" * 100_000),
    "another type": lambda file: file.write_text(json.dumps(["server", SERVER])),
}
if os.geteuid() == 0:  # nobody else can give a file away
    STRANGE["a file of another user"] = of_another_user


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_no_result_is_named_and_left_alone_and_the_results_are_found(folder, caplog, what):
    Spool(folder).keep(a_result())
    STRANGE[what](folder / "strange.json")

    with caplog.at_level(logging.WARNING):
        found = Spool(folder).left(SERVER)

    assert found == [a_result()]
    assert os.path.lexists(folder / "strange.json")
    assert "strange.json is left alone" in caplog.text or what == "a link to nothing"


def test_a_folder_in_which_everybody_writes_is_told_with_its_cure(folder, caplog):
    folder.chmod(0o777)

    Spool(folder).keep(a_result())

    assert f"chmod o-w {folder}" in caplog.text
    folder.chmod(0o700)
    caplog.clear()
    assert Spool(folder).left(SERVER) == [a_result()]
    assert not caplog.text


def test_a_folder_that_cannot_be_read_is_refused_before_a_result_is_lost_in_it(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.R_OK)

    with pytest.raises(PermissionError, match="no permission to read and write"):
        Spool(folder)


def keeping(folder, **changed):
    usual = {"seconds": 60.0, "is_leaving": lambda: False, "tell": lambda: None}
    return Checkpoint(folder, "trial", **usual | changed)


def a_model(seed):
    torch.manual_seed(seed)
    return torch.nn.Linear(3, 2)


def foreign(file):
    """A checkpoint that is whole, and none of ours."""
    torch.save({"weights": torch.zeros(2)}, file)
    file.rename(file.with_name(f"trial.{STEP}.{checkpoint._digest(file)}{checkpoint.SUFFIX}"))


IN_THE_WAY = {each: STRANGE[each] for each in STRANGE if each not in {"a link", "a file of another user"}} | {
    "a foreign checkpoint": foreign,
    "a name of fewer parts": lambda file: (
        file.rename(file.with_name("trial.x.checkpoint"))
        if file.exists()
        else file.with_name("trial.x.checkpoint").write_text("")
    ),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_what_is_no_checkpoint_is_named_and_loses_none(tmp_path, capsys, what):
    IN_THE_WAY[what](tmp_path / f"trial.{STEP}.{'0' * 64}{checkpoint.SUFFIX}")
    for step in (1, 2, 3):
        keeping(tmp_path).save(step, model=a_model(step))
    model = a_model(0)

    assert keeping(tmp_path).restore(model=model) == 3
    assert torch.equal(model.weight, a_model(3).weight)
    assert "is left out" in capsys.readouterr().err


def test_a_link_where_a_checkpoint_is_written_leads_nowhere(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f"trial.{os.getpid()}.part").symlink_to(precious)

    keeping(tmp_path).save(1, model=a_model(1))

    assert precious.read_text() == "mine"
    assert keeping(tmp_path).restore(model=a_model(0)) == 1


def test_what_cannot_be_removed_keeps_no_worker_from_starting(tmp_path, capsys):
    old = time.time() - (checkpoint.FORGOTTEN_DAYS + 1) * 24 * 3600
    (tmp_path / "folder.checkpoint").mkdir()
    (tmp_path / "link.checkpoint").symlink_to("nowhere")
    (tmp_path / "forgotten.checkpoint").write_text("")
    for file in tmp_path.iterdir():
        os.utime(file, (old, old), follow_symlinks=False)

    checkpoint.forget(tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["folder.checkpoint"]
    assert "folder.checkpoint is left alone" in capsys.readouterr().err
