"""What was run is kept, and nothing is run twice or reported from code that no commit holds."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.search import runs

HOUSE = Path(__file__).parents[2]
STUB = """#!{python}
import json, sys, time
for line in sys.stdin:
    time.sleep(0.02)
    print(json.dumps(json.loads(line) | {{"incumbents": [], "cpu_seconds": 0.5}}), flush=True)
"""
DRIVER = """
import sys
from pathlib import Path
from benchmarks.search import runs
runs.environment = lambda name: sys.argv[1]
print(runs.advance(runs.cells("tune", ["random", "optuna:tpe"], ["plain"], 3), 1.0, Path(sys.argv[2]))[0])
"""


@pytest.fixture
def stub(tmp_path):
    """Stands for the Python of an environment; answers every cell at once."""
    script = tmp_path / "python"
    script.write_text(STUB.format(python=sys.executable))
    script.chmod(0o755)
    return script


@pytest.fixture
def repository(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "code.py").write_text("x = 1\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    return tmp_path


def some_cells(half="tune", methods=("random",), conditions=("plain",), repetitions=1):
    return list(runs.cells(half, methods, conditions, repetitions))


def test_a_search_is_known_by_everything_that_decides_its_result():
    cell = some_cells()[0]
    others = {
        "method": "biased_random", "version": "2", "tasks": 99, "task": "t", "instance": 9, "seed": 8,
        "budget": 7, "workers": 8, "crashes": 0.1, "noise": True, "told": "cubed",
    }  # fmt: skip

    assert set(others) == set(cell)
    assert len({runs.key(cell | {part: value}) for part, value in others.items()} | {runs.key(cell)}) == 12
    assert runs.key(cell | {"cpu_seconds": 3.0}) == runs.key(cell)


def test_the_version_of_ours_changes_with_the_source_and_that_of_a_peer_with_its_pins(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "SOURCES", (tmp_path,))
    (tmp_path / "biased.py").write_text("one rule")
    before = runs.version("random"), runs.version("optuna:tpe")
    (tmp_path / "biased.py").write_text("another rule")

    assert runs.version("random") != before[0]
    assert runs.version("optuna:tpe") == before[1]
    assert "optuna==5.0.0" in before[1]
    assert "ioh==" in before[1]


def test_seeds_and_instances_of_the_halves_never_meet():
    tuned, reported = some_cells("tune", repetitions=100), some_cells("report", repetitions=100)

    assert not {c["seed"] for c in tuned} & {c["seed"] for c in reported}
    assert not {(c["task"], c["instance"]) for c in tuned} & {(c["task"], c["instance"]) for c in reported}
    assert len({c["task"] for c in reported}) == 16


def test_the_gp_is_repeated_less_and_only_ours_are_told_losses_in_other_ways():
    reported = some_cells("report", ("random", "optuna:gp"), ("plain", "cubed"), repetitions=100)
    count = {
        (method, told): len({c["seed"] for c in reported if (c["method"], c["told"]) == (method, told)})
        for method in ("random", "optuna:gp")
        for told in ("plain", "cubed")
    }

    assert list(count.values()) == [100, runs.RETOLD_REPETITIONS, 10, 0]


def test_a_killed_slice_goes_on_where_it_was_and_runs_nothing_twice(tmp_path, stub):
    cache = tmp_path / "search.jsonl"
    command = [sys.executable, "-c", DRIVER, stub, cache]
    first = subprocess.Popen(command, cwd=HOUSE, stdout=subprocess.PIPE)
    while not cache.exists() or cache.read_bytes().count(b"\n") < 20:
        time.sleep(0.01)
    first.kill()
    first.communicate()
    with cache.open("ab") as file:
        file.write(b'{"method": "torn')  # as if it had been killed in the middle of a line
    kept = len(runs.load(cache))

    second = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=True)

    assert kept >= 20
    assert int(second.stdout) == 2 * 3 * 17 - kept
    assert set(runs.load(cache)) == {
        runs.key(cell) for cell in some_cells(methods=("random", "optuna:tpe"), repetitions=3)
    }
    assert cache.read_text().count("\n") == 2 * 3 * 17 + 1  # the torn line


def test_a_slice_ends_when_its_time_is_up_and_tells_what_remains(tmp_path, stub, monkeypatch):
    monkeypatch.setattr(runs, "environment", lambda _: stub)

    done, remaining = runs.advance(some_cells(), minutes=0.1 / 60, cache=tmp_path / "search.jsonl")

    assert 0 < done < 17
    assert len(remaining) == 17 - done
    assert runs.seconds_left(remaining, runs.load(tmp_path / "search.jsonl").values()) == {
        "random": 0.5 * (17 - done)
    }


def test_a_search_that_stops_says_which(tmp_path, stub, monkeypatch):
    stub.write_text(f"#!{sys.executable}\n")
    monkeypatch.setattr(runs, "environment", lambda _: stub)

    with pytest.raises(RuntimeError, match="random on hpobench:car, seed 0"):
        runs.advance(some_cells(), minutes=1, cache=tmp_path / "search.jsonl")


def test_the_report_half_is_refused_while_the_tree_differs_from_its_commit(repository):
    runs.refuse_dirty("report", repository)
    (repository / "code.py").write_text("x = 2\n")

    runs.refuse_dirty("tune", repository)
    with pytest.raises(runs.DirtyTree, match=r"code\.py"):
        runs.refuse_dirty("report", repository)
    assert runs.commit(repository).endswith("+")


@pytest.mark.parametrize("script", ["run", "report"])
def test_neither_script_looks_at_the_report_half_with_changes_about(script, repository):
    for room in ("benchmarks", "thiessen"):
        shutil.copytree(HOUSE / room, repository / room, ignore=shutil.ignore_patterns(".*", "log.jsonl"))

    ran = subprocess.run(
        [sys.executable, repository / "benchmarks" / "search" / script, "--half", "report"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert "committed code only" in ran.stderr
    assert not (repository / "benchmarks" / "search" / "log.jsonl").exists()


@pytest.mark.parametrize("script", ["run", "report", "surfaces"])
def test_the_scripts_print_how_to_use_them(script):
    ran = subprocess.run(
        [sys.executable, HOUSE / "benchmarks" / "search" / script, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert f"benchmarks/search/{script} --" in ran.stdout + ran.stderr
