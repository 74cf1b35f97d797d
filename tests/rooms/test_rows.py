import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chores.capabilities import BEGIN, END, PAGE, listed, shown, written

HOUSE = Path(__file__).parents[2]
MARKED = """
import pytest

pytestmark = pytest.mark.row(1)
OTHERS = [pytest.param(7, marks=pytest.mark.row(2, 3))]

def test_of_all(): pass

@pytest.mark.parametrize("number", OTHERS)
def test_of_some(number): pass

@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.row(4)) for n in range(2)])
def test_of_one(number): pass

def no_test(): pass
"""
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

def test_of_no_row(): assert False
"""


def a_house(folder, tests, page="| 1 | It works. | |\n"):
    (folder / "docs" / "reference").mkdir(parents=True)
    (folder / "docs" / "reference" / "capabilities.md").write_text(f"{page}{BEGIN}{END}")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = row(numbers): rows\n")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text(tests)
    return folder


def rows(folder, body="pass", options="", page="| 1 | It works. | |\n"):
    a_house(folder, TESTS.format(body=body), page)
    (folder / "chores").mkdir()
    for chore in ("capabilities.py", "rows.py"):
        shutil.copy(HOUSE / "chores" / chore, folder / "chores")
    return subprocess.run(
        [sys.executable, "chores/rows.py"],
        cwd=folder,
        env=os.environ | {"PYTEST_ADDOPTS": options, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_row_is_shown_when_all_its_tests_pass(tmp_path):
    ran = rows(tmp_path)

    assert ran.returncode == 0, ran.stdout
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
    assert "row 1 is not shown: tests/test_it.py::test_other did not run and pass" in ran.stdout


def test_an_error_after_a_test_fails_the_whole(tmp_path):
    ran = rows(tmp_path, "pass\n\n@pytest.fixture(autouse=True)\ndef ends(fails_afterwards): pass")

    assert ran.returncode == 1


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("| 1 | It works. | |\n| 2 | It flies. | |\n", "row 2 is listed and no test shows it"),
        ("", "row 1 is shown by tests and not listed"),
    ],
)
def test_rows_without_tests_and_tests_without_rows_are_told(tmp_path, page, fault):
    ran = rows(tmp_path, page=page)

    assert ran.returncode == 1
    assert fault in ran.stdout


def test_a_mark_that_nobody_can_read_is_told(tmp_path):
    ran = rows(tmp_path, "pass\n\ndef test_third(): pass\n\npytest.mark.row(1)(test_third)")

    assert ran.returncode == 1
    assert "tests/test_it.py::test_third is marked in a way that cannot be read" in ran.stdout


def test_marks_are_read_wherever_they_stand(tmp_path):
    found = shown(a_house(tmp_path, MARKED))

    of_all = ["test_of_all", "test_of_some", "test_of_one"]
    assert found == {
        1: {"tests/test_it.py": of_all},
        2: {"tests/test_it.py": ["test_of_some"]},
        3: {"tests/test_it.py": ["test_of_some"]},
        4: {"tests/test_it.py": ["test_of_one"]},
    }


def test_the_page_names_the_tests_of_each_row():
    page = PAGE.read_text()

    assert written(page, shown(HOUSE)) == page, "say `make reference`"


def test_every_row_has_tests_and_every_mark_has_a_row():
    rows = listed(PAGE.read_text())

    assert rows == sorted(shown(HOUSE))
    assert set(range(1, 237)) <= set(rows)
