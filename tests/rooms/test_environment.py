import ast
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import wait_until

HOUSE = Path(__file__).parents[2]
SCRIPT = HOUSE / "chores" / "environment.py"
VERSION = "{}.{}".format(*sys.version_info[:2])
WITHOUT_ENSUREPIP = (
    "find = importlib.util.find_spec\nimportlib.util.find_spec = lambda n: n != 'ensurepip' and find(n)"
)
STAND_IN = """
import os, signal, sys, time
home, version = {home!r}, {version!r}
if "--version" in sys.argv:
    print(f"pip 23.2.1 from {{home}}/lib/python{{version}}/site-packages/pip (python {{version}})")
else:
    print("pip", sys.argv[1:], flush=True)
    {then}
"""


@pytest.fixture
def clone(tmp_path):
    house = tmp_path / "my projects" / "thiessen"
    (house / "chores").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", "Makefile", "chores/environment.py"):
        shutil.copy(HOUSE / name, house / name)
    return house


@pytest.fixture
def environment(clone):
    """A virtual environment with a stand-in for pip, which says what it was asked for."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", clone / ".venv"], check=True)
    (packages(clone) / "pip").mkdir()
    script = clone / ".venv" / "bin" / "pip"
    script.write_text(f'#!/bin/sh\nexec "{clone}/.venv/bin/python" -m pip "$@"\n')
    script.chmod(0o755)
    stand_in(clone)
    return clone / ".venv"


def packages(clone):
    return next((clone / ".venv" / "lib").glob("python*")) / "site-packages"


def stand_in(clone, version=VERSION, then="pass"):
    source = STAND_IN.format(home=str(clone / ".venv"), version=version, then=then)
    (packages(clone) / "pip" / "__main__.py").write_text(source)


def stamp(clone, *extras):
    fingerprint = runpy.run_path(str(clone / "chores" / "environment.py"))["fingerprint"]()
    (clone / ".venv" / "thiessen.json").write_text(
        json.dumps({"fingerprint": fingerprint, "extras": list(extras)})
    )


def prepare(clone, *extras, before="", **environment):
    script = clone / "chores" / "environment.py"
    program = (
        f"import sys, importlib.util\nsys.argv = {['environment.py', *(extras or ['server'])]!r}\n{before}\n"
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
    ran = prepare(clone, before=WITHOUT_ENSUREPIP)

    assert ran.returncode == 1
    assert "apt install python3" in ran.stderr
    assert not (clone / ".venv").exists()


def test_no_network_is_told_with_the_remedy_and_nothing_is_left_half_made(clone):
    ran = prepare(clone, PIP_NO_INDEX="1", PIP_FIND_LINKS="")

    assert ran.returncode == 1
    assert "pip could not install Thiessen: ERROR: Could not find" in ran.stderr
    assert "PIP_INDEX_URL" in ran.stderr
    assert not (clone / ".venv").exists()


@pytest.mark.usefixtures("environment")
def test_an_environment_that_is_up_to_date_is_left_alone(clone):
    stamp(clone, "server", "worker")

    ran = prepare(clone, before=WITHOUT_ENSUREPIP)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_an_interruption_while_the_environment_is_made_leaves_nothing(clone):
    script = [sys.executable, clone / "chores" / "environment.py", "server"]
    with subprocess.Popen(script, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        wait_until((clone / ".venv" / "bin" / "python").exists)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=20)

    assert said == "Stopped. Run the same command to go on.\n"
    assert not (clone / ".venv").exists()


def test_an_environment_that_a_kill_left_without_pip_is_made_anew(clone):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", clone / ".venv"], check=True)

    ran = prepare(clone, PIP_NO_INDEX="1", PIP_FIND_LINKS="")

    assert "Rebuilding" in ran.stdout
    assert "pip could not install Thiessen" in ran.stderr
    assert "No module named pip" not in ran.stderr


def test_a_run_waits_for_what_a_killed_one_left_running(clone, environment):
    stand_in(clone, then="time.sleep(1); open(home + '/ended', 'w').close()")
    script = [sys.executable, clone / "chores" / "environment.py", "server"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        while not running.stdout.readline().startswith("pip ["):
            pass
        running.kill()
        running.wait()

        ran = prepare(clone, before=f"import os; assert not os.path.exists({str(environment / 'ended')!r})")

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Waiting for another run")


def moved(clone):
    clone.rename(clone.with_name("moved"))
    return clone.with_name("moved")


def copied(clone):
    shutil.copytree(clone, clone.with_name("copied"), symlinks=True)
    return clone.with_name("copied")


def of_another_python(clone):
    stand_in(clone, version="3.10")
    (clone / ".venv" / "thiessen.json").unlink()  # it would name that Python
    return clone


def without_its_python(clone):
    for name in (clone / ".venv" / "bin").glob("python*"):
        name.unlink()
    return clone


@pytest.mark.parametrize("spoil", [moved, copied, of_another_python, without_its_python])
@pytest.mark.usefixtures("environment")
def test_an_environment_that_does_not_fit_is_not_continued(clone, spoil):
    stamp(clone, "server")

    ran = prepare(spoil(clone), before=WITHOUT_ENSUREPIP)

    assert ran.returncode == 1
    assert "makes no virtual environments" in ran.stderr, "it meant to make a new one"
    assert "pip [" not in ran.stdout


def test_a_folder_that_is_no_virtual_environment_is_refused_and_kept(clone):
    (clone / ".venv").mkdir()
    (clone / ".venv" / "thesis.txt").write_text("three years")

    ran = prepare(clone, PIP_NO_INDEX="1")

    assert ran.returncode == 1
    assert "is not a virtual environment" in ran.stderr
    assert (clone / ".venv" / "thesis.txt").read_text() == "three years"


def test_an_interrupted_installation_leaves_no_stamp(clone, environment):
    stamp(clone, "server")
    stand_in(clone, then="os.kill(os.getppid(), signal.SIGINT); time.sleep(60)")

    ran = prepare(clone, "server", "dev")

    assert ran.stderr == "Stopped. Run the same command to go on.\n"
    assert environment.exists()
    assert not (environment / "thiessen.json").exists()


def test_what_is_missing_is_announced_before_the_one_call_of_pip(clone, environment):
    ran = prepare(clone, "server", "worker", "dev")

    announced, called = ran.stdout.split("pip [", 1)
    assert "Fetching about 478 MB" in announced
    assert "200 MB as CPU build, about 2,900 MB with CUDA" in announced
    assert "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make demo" in announced
    assert f"'{clone}[dev,server,worker]'" in called
    assert "pip [" not in called
    assert "dry-run" not in called
    assert json.loads((environment / "thiessen.json").read_text())["extras"] == ["dev", "server", "worker"]


@pytest.mark.usefixtures("environment")
def test_what_is_there_is_not_announced(clone):
    for name, version in re.findall(r"^(\w+)==(\S+)", (clone / "constraints.txt").read_text(), re.MULTILINE):
        (packages(clone) / f"{name}-{version}+cpu.dist-info").mkdir()

    ran = prepare(clone, "server", "worker", "dev")

    assert ran.stdout.splitlines()[0] == "Refreshing .venv"
    assert "MB" not in ran.stdout


def test_make_says_where_it_wants_to_be_called(clone, tmp_path):
    ran = subprocess.run(
        ["make", "-f", clone / "Makefile", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 2
    assert "make -C" in ran.stderr
