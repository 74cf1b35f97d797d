import subprocess
import sys

import pytest

from chores import release_check
from chores.release_check import STEPS, Step, main


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A repository of one commit, whose release takes the steps that a test names."""
    house = tmp_path / "house"
    house.mkdir()
    (house / "greeting").write_text("committed\n")
    git = ["git", "-C", house, "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "--quiet"], ["add", "greeting"], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(release_check, "HOUSE", house)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def takes(*steps):
        monkeypatch.setattr(release_check, "STEPS", steps)
        return house

    return takes


def test_each_step_is_told_with_its_figure(house, capsys):
    house(Step("greeting", "cat greeting", r"(commit\w+)"))

    assert main() == 0
    assert "ok after 0 s: committed" in capsys.readouterr().out


def test_what_is_not_committed_is_not_released(house, capsys):
    house(Step("greeting", "cat greeting", r"(\w+)")).joinpath("greeting").write_text("edited\n")

    assert main() == 0
    assert "edited" not in capsys.readouterr().out


def test_a_step_that_fails_is_named_and_the_others_are_taken(house, capsys):
    house(Step("broken", "ls nowhere", r"x"), Step("greeting", "cat greeting", r"(\w+)"))

    assert main() == 1
    told = capsys.readouterr().out
    assert "FAILED" in told
    assert "nowhere" in told
    assert "committed" in told
    assert told.splitlines()[-1] == "Not ready: broken."


def test_a_step_has_nothing_of_the_environment_that_leads_elsewhere(house, monkeypatch, capsys):
    monkeypatch.setenv("THIESSEN_SERVER", "http://elsewhere")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    house(Step("environment", f"{sys.executable} -c 'import os; print(*os.environ)'", r"(.*)"))

    assert main() == 0
    told = capsys.readouterr().out
    assert "THIESSEN_SERVER" not in told
    assert "PYTHONPATH" not in told


def test_every_step_is_there_to_be_taken():
    house = release_check.HOUSE
    targets = {line.partition(":")[0] for line in (house / "Makefile").read_text().splitlines()}
    for step in STEPS:
        program, *words = step.command.split()
        if program == "make":
            assert words[0] in targets
        else:
            assert [word for word in words if "/" in word and (house / word).exists()], step
