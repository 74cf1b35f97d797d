"""A server and a worker of a command's own: one folder, one command, and an end to what dies always."""

import fcntl
import os

import pytest

from thiessen.cli.compare import here, running
from thiessen.cli.failure import CommandFailed
from thiessen.cli.processes import Process, forget_other_servers
from thiessen.contract import ComparisonSpec, TaskAnswer


@pytest.fixture
def said():
    return []


def a_worker_that_dies(folder):
    process = Process(folder, "worker", "--nonsense")
    process.wait()
    return process


def test_what_dies_is_started_again_and_that_is_said(tmp_path, said):
    kept = here._Kept(lambda: a_worker_that_dies(tmp_path), said.append)
    first = kept.process

    kept.revive()
    kept.stop()

    assert kept.process is not first
    assert said == ["The worker exited with 2; it is started again (1 of at most 10 times)."]


def test_what_dies_once_too_often_ends_the_command_with_its_last_words(tmp_path, said, monkeypatch):
    monkeypatch.setattr(here, "MOST_DEATHS", 0)
    kept = here._Kept(lambda: a_worker_that_dies(tmp_path), said.append)

    with pytest.raises(CommandFailed, match=r"The same command again goes on.(?s:.*)No such option") as ended:
        kept.revive()
    kept.stop()

    assert said == []
    assert str(ended.value).startswith("the worker exited with 2")


def test_a_folder_in_which_another_command_works_is_left_alone(tmp_path, said, monkeypatch):
    monkeypatch.setattr(here, "START_SECONDS", 0.3)

    with (tmp_path / "lock").open("w") as taken:
        fcntl.flock(taken, fcntl.LOCK_EX)
        with pytest.raises(CommandFailed, match="another command works"):
            here._owned(tmp_path, said.append).__enter__()

    assert said == [f"Waiting for another command that works in {tmp_path}, or for what it left to stop ..."]


def test_a_task_that_the_worker_does_not_offer_is_named_with_those_it_does():
    spec = ComparisonSpec.model_validate(
        {
            "name": "c",
            "task": "classifier",
            "arms": [{"label": "a"}, {"label": "b", "task": "mine.train"}],
            "budget": {"trials": 1},
        }
    )
    offered = [
        TaskAnswer(name=name, versions=["1"], workers=1, description="")
        for name in ("classifier", "function")
    ]

    with pytest.raises(
        CommandFailed, match=r"no task 'mine.train' is installed here; there are classifier, function"
    ):
        running._check_offered(offered, spec)


def test_what_is_meant_for_another_server_is_left_out_of_the_environment(monkeypatch):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("THIESSEN_")}
    monkeypatch.setattr(os, "environ", kept | {"THIESSEN_TOKEN": "t", "THIESSEN_DATA_DIR": "/data"})

    forget_other_servers()

    assert os.environ == kept | {"THIESSEN_DATA_DIR": "/data"}
