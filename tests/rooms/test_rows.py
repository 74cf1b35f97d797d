import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.fixture
def fails_afterwards():
    yield
    raise OSError

@pytest.mark.row(1)
def test_one(): pass

@pytest.mark.row(1)
def test_other(): {body}
"""


def rows(folder, body="pass", options=""):
    (folder / "chores").mkdir()
    (folder / "docs" / "reference").mkdir(parents=True)
    shutil.copy(HOUSE / "chores" / "rows.py", folder / "chores")
    (folder / "docs" / "reference" / "capabilities.md").write_text("| 1 | It works. | tests |\n")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = row(number): a row\n")
    (folder / "test_it.py").write_text(TESTS.format(body=body))
    return subprocess.run(
        [sys.executable, "chores/rows.py"],
        cwd=folder,
        env=os.environ | {"PYTEST_ADDOPTS": options},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_row_is_shown_when_all_its_tests_pass(tmp_path):
    ran = rows(tmp_path)

    assert ran.returncode == 0
    assert "1 of 1 listed rows" in ran.stdout


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("assert False", ""),
        ("pytest.skip()", ""),
        ("pass", "--collect-only"),
        ("pass", "-k one"),
        ("pass", "--setup-plan"),
    ],
)
def test_a_row_is_not_shown_by_a_test_that_did_not_run_and_pass(tmp_path, body, options):
    ran = rows(tmp_path, body, options)

    assert ran.returncode == 1
    assert "0 of 1 listed rows" in ran.stdout


def test_an_error_after_a_test_fails_the_whole(tmp_path):
    ran = rows(tmp_path, "pass\n\n@pytest.fixture(autouse=True)\ndef ends(fails_afterwards): pass")

    assert ran.returncode == 1
