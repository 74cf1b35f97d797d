"""Studies side by side, and whether that is fair to them."""

import csv
import io
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from thiessen import Float, Space
from thiessen.cli.main import build
from thiessen.comparison.side_by_side import ALIKE, differences

SPACE = Space(x=Float(0, 1))
ROW = {"max_trials": 5, "max_gpu_hours": None, "max_updates": None, "max_seconds": None, "deadline": None,
       "target": None, "finished": 5, "imported": 0, "task": "t", "direction": "minimize"}  # fmt: skip


def bent(trial):
    return float("nan") if trial["x"] < 0.2 else trial["x"]


@pytest.fixture
def run(server):
    def call(*arguments, code=0):
        said = CliRunner().invoke(build(), ["compare", *arguments], env={"THIESSEN_SERVER": server.url})
        assert said.exit_code == code, said.output + str(said.exception)
        return said

    return call


def search(server, name, trials, strategy="random"):
    with server.open_study(name, SPACE, trials=trials, strategy=strategy) as study:
        return study.optimize(bent).results()


@pytest.mark.row(13)
def test_studies_of_equal_budgets_stand_side_by_side_without_a_word(server, run):
    ended = {strategy: search(server, strategy, 5, strategy) for strategy in ("random", "biased_random")}

    said = run("random", "biased_random", "-o", "json")

    assert said.stderr == ""
    for row, (name, results) in zip(json.loads(said.stdout), ended.items(), strict=True):
        values = sorted(each.value for each in results if each.state == "succeeded")
        assert (row["study"], row["strategy"].split()[0], row["finished"]) == (name, name, 5)
        assert (row["succeeded"], row["diverged"]) == (len(values), 5 - len(values))
        assert row["best"] == values[0]
        assert row["median"] == (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


@pytest.mark.row(13)
def test_unequal_numbers_of_trials_are_flagged_in_every_form(server, run):
    search(server, "short", 3)
    search(server, "long", 5)
    flagged = (
        "Not a fair comparison: trials allowed differ (3 in short, 5 in long); "
        "trials finished differ (3 in short, 5 in long).\n"
    )

    for form, parse in (
        ("yaml", yaml.safe_load),
        ("csv", lambda text: list(csv.DictReader(io.StringIO(text)))),
    ):
        said = run("short", "long", "-o", form)
        assert [row["study"] for row in parse(said.stdout)] == ["short", "long"]
        assert said.stderr == flagged
    said = run("short", "long")
    assert "median" in said.stdout
    assert said.stderr == flagged


@pytest.mark.row(13)
@given(st.sampled_from(list(ALIKE)), st.integers(0, 2))
def test_whatever_is_not_alike_is_named(name, whose):
    rows = [ROW | {"study": f"study{number}"} for number in range(3)]
    assert differences(rows) == []

    rows[whose] = rows[whose] | {name: 99}
    [told] = differences(rows)
    assert told.startswith(f"{ALIKE[name]} differ")
    assert f"99 in study{whose}" in told


def test_a_study_that_has_nothing_yet_or_is_not_there_is_no_fault(server, run):
    server.open_study("empty", SPACE, trials=5).close()
    search(server, "full", 5)

    [empty, _] = json.loads(run("empty", "full", "-o", "json").stdout)
    assert (empty["best"], empty["median"]) == (None, None)
    assert "no study 'nobody'" in str(run("nobody", "full", code=1).exception)
    assert "name two studies" in str(run("full", "full", code=1).exception)
