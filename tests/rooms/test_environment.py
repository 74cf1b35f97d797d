import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
SCRIPT = HOUSE / "chores" / "environment.py"


@pytest.fixture
def clone(tmp_path):
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy(HOUSE / name, tmp_path)
    for room in ("thiessen", "app", "worker", "optimizers", "migrations", "chores"):
        shutil.copytree(HOUSE / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def prepare(clone, before="", **environment):
    script = clone / "chores" / "environment.py"
    program = (
        f"import sys, importlib.util\nsys.argv = ['environment.py', 'server']\n{before}\n"
        f"exec(compile(open({str(script)!r}).read(), {str(script)!r}, 'exec'),"
        f" {{'__name__': '__main__', '__file__': {str(script)!r}}})"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_can_be_read_by_pythons_that_are_too_old():
    ast.parse(SCRIPT.read_text(), feature_version=(3, 7))


def test_an_old_python_is_told_so_and_nothing_is_made(clone):
    ran = prepare(clone, before="sys.version_info = (3, 9, 1)")

    assert ran.returncode == 1
    assert "Python 3.11 or newer" in ran.stderr
    assert "PYTHON=python3.12" in ran.stderr
    assert not (clone / ".venv").exists()


def test_a_python_without_pip_is_told_how_to_get_it_and_nothing_is_made(clone):
    missing = (
        "find = importlib.util.find_spec\nimportlib.util.find_spec = lambda n: n != 'ensurepip' and find(n)"
    )

    ran = prepare(clone, before=missing)

    assert ran.returncode == 1
    assert "apt install python3" in ran.stderr
    assert not (clone / ".venv").exists()


def test_no_network_is_told_with_the_remedy_and_nothing_is_left_half_made(clone):
    ran = prepare(clone, PIP_NO_INDEX="1")

    assert ran.returncode == 1
    assert "pip could not install Thiessen" in ran.stderr
    assert "PIP_INDEX_URL" in ran.stderr
    assert not (clone / ".venv").exists()


def test_an_environment_that_is_up_to_date_is_left_alone(clone):
    home = clone / ".venv"
    home.mkdir()
    script = clone / "chores" / "environment.py"
    before = (
        f"import json, runpy; environment = runpy.run_path({str(script)!r})\n"
        f"open({str(home / 'thiessen.json')!r}, 'w').write(json.dumps("
        "{'fingerprint': environment['fingerprint'](), 'extras': ['server', 'worker']}))"
    )

    ran = prepare(clone, before=before)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert [path.name for path in home.iterdir()] == ["thiessen.json"]
