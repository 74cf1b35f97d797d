"""What the page says that a strategy takes, is all that it takes: seen in a copy of this house."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.rooms.pages import HOUSE, Session, blocks, is_placed

PAGE = (HOUSE / "docs/how-to/own-strategy.md").read_text()
NEEDED = ("app", "docs", "migrations", "tests", "thiessen", "worker")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy with what the page adds: one file, and one line each in three others."""
    session = Session(tmp_path_factory.mktemp("house"), {}, {})
    for room in NEEDED:
        shutil.copytree(HOUSE / room, session.folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HOUSE / "pyproject.toml", session.folder)
    for block in blocks(PAGE):
        if is_placed(block):
            session.follow(block)
    return session.folder


def run(house, *command):
    path = os.pathsep.join([str(house), os.environ.get("PYTHONPATH", "")])
    program = [sys.executable, "-P", *command]
    environment = os.environ | {"PYTHONPATH": path, "CI": ""}  # where every test would have to run
    ran = subprocess.run(program, cwd=house, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.row(284)
def test_it_takes_one_file_and_one_line_in_each_of_three_others(house):
    changed = {
        str(path.relative_to(house)): len(path.read_text().splitlines())
        - lines_of(HOUSE / path.relative_to(house))
        for path in house.rglob("*.*")
        if path.suffix in {".py", ".md"} and path.read_text() != text_of(HOUSE / path.relative_to(house))
    }

    assert changed.pop("thiessen/search/around_best.py") > 1
    assert changed == {
        "thiessen/search/__init__.py": 1,
        "tests/search/test_same_numbers.py": 1,
        "docs/reference/study-file.md": 1,
    }


def text_of(path):
    return path.read_text() if path.exists() else ""


def lines_of(path):
    return len(text_of(path).splitlines())


def test_the_linter_has_nothing_to_say(house):
    run(house, "-m", "ruff", "check", "--no-cache", "thiessen/search")
    run(house, "-m", "ruff", "format", "--no-cache", "--check", "thiessen/search")
