import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from worker import environment
from worker.functions import function


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a task in it."""
    (tmp_path / "kept_in_git.py").write_text("def train(config, context):\n    return 1.0\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "first")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("kept_in_git", None)  # of another test, from another folder
    return tmp_path


def git(folder, *command):
    return subprocess.run(["git", "-C", folder, *command], check=True, capture_output=True, text=True).stdout


def test_the_commit_of_a_task_is_known_and_whether_it_was_changed(repository):
    task = function("kept_in_git:train").task
    commit = git(repository, "rev-parse", "HEAD").strip()

    assert environment.sources([task]) == {"git": commit}

    with (repository / "kept_in_git.py").open("a") as file:
        file.write("# changed\n")

    assert environment.sources([task]) == {"git": f"{commit} with changes"}


def test_a_task_that_only_lies_in_a_repository_is_not_of_its_commit(repository):
    (repository / "not_in_git.py").write_text("def train(config, context):\n    return 1.0\n")

    assert environment.sources([function("not_in_git:train").task]) == {}


@pytest.mark.usefixtures("repository")
def test_without_git_there_is_nothing_to_say(monkeypatch):
    task = function("kept_in_git:train").task
    monkeypatch.setenv("PATH", "/nowhere")

    assert environment.sources([task]) == {}


def test_an_environment_names_the_gpu_of_the_slot(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(name="A100"))
    monkeypatch.setattr(torch.version, "cuda", "12.9")

    known = environment.environment("cuda:0+1", 4, {"git": "x" * 300})

    assert (known["gpu"], known["cuda"], known["threads"]) == ("A100, A100", "12.9", "4")
    assert len(known["git"]) == 200
    assert set(environment.environment("cpu", 1, {})) == {
        "thiessen",
        "python",
        "numpy",
        "torch",
        "platform",
        "threads",
    }
