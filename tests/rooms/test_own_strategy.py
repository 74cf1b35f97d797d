"""The page that says how to add a strategy is followed to the letter, in a copy of this house."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs/how-to/own-strategy.md").read_text()
NEEDED = ("app", "docs", "migrations", "tests", "thiessen", "worker")
BLOCK = r"\n\n```\w+\n(.*?)```"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy with what the page adds: one file, and one line each in three others."""
    copy = tmp_path_factory.mktemp("house")
    for room in NEEDED:
        shutil.copytree(HOUSE / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HOUSE / "pyproject.toml", copy)
    for path, text in re.findall(rf"\n`(\S+)`:{BLOCK}", PAGE, re.DOTALL):
        (copy / path).write_text(text)
    for path, place, line in re.findall(
        rf"\nIn `(\S+)`, above the line with `([^\n]+)`:{BLOCK}", PAGE, re.DOTALL
    ):
        before, there, after = (copy / path).read_text().partition(place)
        assert there, f"no line of {path} has {place!r}"
        start = before.rindex("\n") + 1
        (copy / path).write_text(before[:start] + line + before[start:] + there + after)
    return copy


def run(house, *command):
    path = os.pathsep.join([str(house), os.environ.get("PYTHONPATH", "")])
    program = [sys.executable, "-P", *command]
    environment = os.environ | {"PYTHONPATH": path, "CI": ""}  # where every test would have to run
    ran = subprocess.run(program, cwd=house, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


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


def test_every_test_of_strategies_passes_for_it(house):
    tests = re.search(r"python -m (pytest .*) -k \"(.*)\"", PAGE)

    passed = run(house, "-m", *tests[1].split(), "-k", tests[2], "-q", "-p", "no:cacheprovider")

    assert int(re.search(r"(\d+) passed", passed)[1]) > 20


def test_it_searches(house):
    search = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[-1]

    said = run(house, "-c", search)

    assert said.startswith("A draw by the rule of around_best")
    assert float(said.split()[-1]) < 0.01


def test_a_study_file_may_name_it(house):
    line = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    script = (
        "import tomllib\nfrom thiessen.contract import StudySpec\n"
        "from thiessen.contract.studies import EXAMPLE\n"
        "from thiessen.integrations import KNOWN\nfrom thiessen.search.settings import strategy_from_json\n"
        f"sent = StudySpec.model_validate(EXAMPLE | tomllib.loads({line!r}))\n"
        "print(strategy_from_json(sent.strategy, KNOWN))"
    )

    assert run(house, "-c", script) == "AroundBest(width=0.1)\n"


def test_the_linter_has_nothing_to_say(house):
    run(house, "-m", "ruff", "check", "--no-cache", "thiessen/search")
    run(house, "-m", "ruff", "format", "--no-cache", "--check", "thiessen/search")
