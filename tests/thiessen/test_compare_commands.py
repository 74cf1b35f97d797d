"""The commands of comparisons, as they are typed."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from thiessen.cli.main import build
from thiessen.contract import ComparisonSpec

COMPARISON = {
    "name": "two",
    "task": "function",
    "settings": {"noise": 0.1},
    "space": {"x1": {"type": "float", "low": -5, "high": 5}},
    "arms": [{"label": "here"}, {"label": "there", "settings": {"x2": 1.0}}],
    "budget": {"trials": 3},
    "replicates": 2,
    "confirm": {"seeds": 1},
    "strategy": "random",
}
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Types a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0, server=NOBODY):
        said = CliRunner().invoke(build(), ["compare", *arguments], env={"THIESSEN_SERVER": server})
        assert said.exit_code == code, said.output + str(said.exception)
        return said

    return call


@pytest.fixture
def refused(run):
    """Types a command that fails, and returns its sentence."""
    return lambda *arguments: str(run(*arguments, code=1).exception)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(yaml.safe_dump(COMPARISON))
    return path.name


def test_a_plan_needs_no_server_and_says_what_it_costs(run, file):
    said = run("plan", file, server=None)

    assert "2 arms x 2 searches x 3 trials = 12 trials, then 4 runs." in said.stdout


def test_a_plan_for_programs_has_what_each_arm_searches(file, run):
    said = run("plan", file, "-o", "json", server=None)

    told = json.loads(said.stdout)
    assert told["cost"]["trials"] == 12
    assert [arm["searches"] for arm in told["arms"]] == [["x1"], ["x1"]]
    assert told["arms"][1]["settings"] == {"noise": 0.1, "x2": 1.0}


@pytest.mark.parametrize("before", [(), ("run",), ("--server", NOBODY)])
def test_a_lone_file_is_a_comparison_to_run(before, file, refused):
    assert f"no answer from {NOBODY}" in refused(*before, file)


def test_a_file_that_is_not_there_is_meant_as_a_file(refused):
    assert "cannot read nothing.toml" in refused("nothing.toml")


@pytest.mark.parametrize(
    "typed", [("a", "b"), ("studies", "a", "b"), ("-o", "json", "a", "b"), ("a", "b", "-o", "csv")]
)
def test_several_names_are_studies_side_by_side(typed, refused):
    assert f"no answer from {NOBODY}" in refused(*typed)


def test_what_may_be_a_file_or_a_study_is_not_guessed(file, refused):
    assert refused("digits", file) == (
        "two.yaml is a file here, and may be a study's name too. To run the comparison of a file: thiessen "
        "compare run two.yaml. To see studies side by side: thiessen compare studies digits two.yaml."
    )


def test_a_study_called_like_a_file_is_shown_when_that_is_said(file, refused):
    assert f"no answer from {NOBODY}" in refused("studies", "digits", file)


def test_a_command_is_meant_where_a_file_is_called_like_it(refused):
    Path("list").write_text("")

    assert f"no answer from {NOBODY}" in refused("list")


def test_a_mistake_in_a_file_is_told_with_its_line(refused):
    Path("wrong.toml").write_text('name = "wrong"\ntask = "function"\nreplicates = 0\n')

    assert "line 3, replicates" in refused("plan", "wrong.toml")


def test_here_and_on_a_server_exclude_each_other(file, refused):
    assert "on a --server or --here" in refused(file, "--here", "--server", NOBODY)


@pytest.mark.parametrize("option", [("--slots", "2"), ("--folder", "x"), ("--port", "0"), ("--task", "a:b")])
def test_what_is_of_a_worker_here_is_refused_elsewhere(option, file, refused):
    assert f"{option[0]} is of a worker or server that starts --here" in refused(file, *option)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("pdf", "'pdf' is neither a form"),
        ("report.pdf", "'report.pdf' is neither a form"),
        ("nowhere/report.md", "there is no folder nowhere"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_runs(output, said, file, refused):
    assert said in refused(file, "-o", output)


def test_to_extend_by_nothing_is_no_change(refused):
    assert "say how far" in refused("extend", "two")


@pytest.fixture
def compare(run, server):
    """Types a command to a server that has a comparison."""
    server.create_comparison(ComparisonSpec.model_validate(COMPARISON))
    return lambda *arguments, code=0: run(*arguments, code=code, server=server.url)


def test_a_comparison_is_listed_and_shown_arm_by_arm(compare):
    [listed] = json.loads(compare("list", "-o", "json").stdout)
    shown = json.loads(compare("show", "two", "-o", "json").stdout)
    in_words = compare("show", "two").stdout

    assert (listed["name"], listed["state"]) == ("two", "active")
    assert [len(arm["searches"]) for arm in shown["arms"]] == [2, 2]
    assert "0 of 2" in in_words
    assert "there" in in_words


def test_a_comparison_is_paused_resumed_extended_stopped_and_deleted(compare):
    said = [compare(*deed).stdout.partition(",")[0].strip() for deed in (
        ("pause", "two"), ("resume", "two"), ("extend", "two", "--replicates", "3"), ("stop", "two"),
        ("delete", "two", "--yes"),
    )]  # fmt: skip

    assert said == [*(f"two: {state}" for state in ("paused", "active", "active", "stopped")),
                    "Comparison two is stopped and hidden."]  # fmt: skip
    assert "There is no such comparison" in compare("list").stdout


def test_a_comparison_is_extended_in_its_own_unit_only(compare):
    assert "trials" in str(compare("extend", "two", "--updates", "100", code=1).exception)


def test_a_report_goes_to_the_terminal_and_into_files_by_their_endings(compare):
    files = ("r.json", "r.md", "r.tex", "r.csv", "r.html")
    said = compare("report", "two", "-o", "yaml", *(word for file in files for word in ("-o", file))).stdout

    told = json.loads(Path("r.json").read_text())
    assert yaml.safe_load(said.partition("The report of")[0])["name"] == told["name"] == "two"
    assert Path("r.md").read_text().startswith("# two")
    assert "\\begin{table}" in Path("r.tex").read_text()
    assert Path("r.csv").read_text().startswith("table,")
    assert "<title>Comparison two</title>" in Path("r.html").read_text()


def test_a_comparison_that_was_stopped_before_its_end_ends_its_command_with_1(compare, file):
    compare("stop", "two")

    assert "was stopped before its end" in str(compare("run", file, code=1).exception)
