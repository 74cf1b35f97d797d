"""The chore that sees to a browser, with stand-ins for what a system has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "chores" / "browser.py"


def see_to_it(folder):
    return subprocess.run(
        [sys.executable, SCRIPT], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
    )


def stand_in(folder, name, does="exit 0"):
    program = folder / name
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_that_is_there_is_left_alone(tmp_path, name):
    stand_in(tmp_path, name)
    stand_in(tmp_path, "apt-get", "exit 9")

    ran = see_to_it(tmp_path)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_without_a_browser_and_without_a_way_to_one_the_remedy_is_told(tmp_path):
    ran = see_to_it(tmp_path)

    assert ran.returncode == 1
    assert "sudo apt-get install chromium" in ran.stderr


def test_whoever_may_install_gets_a_browser_and_nobody_else_is_asked(tmp_path):
    browser = tmp_path / "chromium"
    makes = f'printf "#!/bin/sh\\n" > {browser}; /bin/chmod +x {browser}'
    stand_in(tmp_path, "apt-get", f'case "$1" in install) {makes};; esac')

    ran = see_to_it(tmp_path)

    may_install = os.geteuid() == 0
    assert (ran.returncode == 0) is may_install
    assert browser.exists() is may_install
