"""The commands that list, change, move and explain studies and trials."""

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from thiessen import Float, Int, Space, minimize
from thiessen.cli.main import build
from thiessen.cli.output import _csv
from thiessen.contract import Failure, LeaseRequest, OfferedTask, StudySpec, WorkerSpec
from thiessen.figures import Wanted

SPACE = Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 8))


def bowl(trial):
    return (trial["lr"] - 0.1) ** 2 + abs(trial["layers"] - 3)


@pytest.fixture
def run(server):
    """Runs a command against the server; what it prints is returned, a failure is shown."""

    def call(*arguments, code=0, **options):
        command = [str(argument) for argument in arguments]
        said = CliRunner().invoke(build(), command, env={"THIESSEN_SERVER": server.url}, **options)
        assert said.exit_code == code, said.output + str(said.exception)
        return said.output if code == 0 else said.output + str(said.exception)

    return call


@pytest.fixture
def bowls(server):
    """A study of five trials on the server."""
    with server.open_study("bowl", SPACE, trials=5) as study:
        study.optimize(bowl)
        return study


@pytest.mark.usefixtures("bowls")
def test_studies_are_listed_for_people_and_for_programs(server, run):
    assert "There is no such study" in run("study", "list", "--state", "paused")
    server.open_study("other", SPACE, trials=3).close()

    assert [each["name"] for each in json.loads(run("study", "list", "-o", "json"))] == ["other", "bowl"]
    assert [each["name"] for each in yaml.safe_load(run("study", "list", "-o", "yaml"))] == ["other", "bowl"]
    assert [each["name"] for each in csv.DictReader(io.StringIO(run("study", "list", "-o", "csv")))] == [
        "other",
        "bowl",
    ]
    table = run("study", "list", "--limit", 1)
    assert "other" in table
    assert "bowl" not in table
    assert json.loads(run("study", "list", "-o", "json", "--state", "active"))[0]["name"] == "other"


@pytest.mark.usefixtures("bowls")
def test_a_study_is_shown_for_programs(server, run):
    assert json.loads(run("study", "show", "bowl", "-o", "json")) == server.study("bowl").model_dump(
        mode="json"
    )
    [row] = csv.DictReader(io.StringIO(run("study", "show", "bowl", "-o", "csv")))
    assert row["counts.succeeded"] == "5"
    assert "bowl: completed (max_trials)" in run("study", "show", "bowl")


def test_the_best_of_each_study_is_listed(run, bowls):
    [best] = json.loads(run("best", "-o", "json"))
    assert (best["study"], best["trial"]) == ("bowl", bowls.best.number)
    assert "The best config of each study" in run("best")
    assert len(json.loads(run("best", "bowl", "--top", 3, "-o", "json"))) == 3


@pytest.mark.usefixtures("bowls")
def test_a_study_is_watched_to_its_end(run):
    assert "bowl: completed (max_trials)" in run("study", "watch", "bowl", "--every", 0.1)


@pytest.mark.usefixtures("bowls")
def test_a_study_is_paused_resumed_extended_and_stopped(server, run):
    assert "of 8 trials" in run("study", "extend", "bowl", "--trials", 8)
    assert "bowl: paused" in run("study", "pause", "bowl")
    assert "bowl: active" in run("study", "resume", "bowl")
    assert "bowl: stopped" in run("study", "stop", "bowl")
    assert "say how far" in run("study", "extend", "bowl", code=1)
    assert "deadline" in run("study", "extend", "bowl", "--deadline", "tomorrow", code=1)
    assert server.study("bowl").max_trials == 8


@pytest.mark.usefixtures("bowls")
def test_a_study_is_deleted_after_a_question(server, run):
    run("study", "delete", "bowl", input="n\n", code=1)
    assert server.study("bowl").archived_at is None
    assert "stopped and hidden" in run("study", "delete", "bowl", input="y\n")
    assert "gone" in run("study", "delete", "bowl", "--purge", "--yes")


@pytest.mark.usefixtures("bowls")
def test_a_figure_is_written_as_a_page_or_as_what_plotly_draws(server, run, tmp_path: Path):
    page, drawn = tmp_path / "landscape.html", tmp_path / "landscape.json"
    assert f"is in {page}" in run("study", "figure", "bowl", "landscape", "-o", page, "--x", "layers")
    run("study", "figure", "bowl", "landscape", "--output", drawn, "--x", "layers")

    assert json.loads(drawn.read_text()) == server.figure("bowl", "landscape", Wanted(x="layers"))
    assert "Plotly.newPlot" in page.read_text()
    for command, said in [
        (("landscap", "-o", page), "'landscap' is no figure"),
        (("history", "-o", tmp_path / "x.png"), "neither a page (.html) nor plotly's JSON (.json)"),
        (("landscape", "-o", page, "--x", "depth"), "'depth' is no dimension"),
        (("history", "-o", tmp_path / "no" / "x.json"), "cannot be written"),
    ]:
        assert said in run("study", "figure", "bowl", *command, code=1)


@pytest.mark.usefixtures("bowls")
def test_an_export_is_written_to_a_file_or_to_a_pipe(run, tmp_path: Path):
    assert "has study bowl" in run("study", "export", "bowl", tmp_path / "bowl.json")
    document = json.loads((tmp_path / "bowl.json").read_text())
    assert len(document["trials"]) == 5
    lines = run("study", "export", "bowl", "--format", "csv").splitlines()
    assert len(lines) == 6
    assert "cannot write" in run("study", "export", "bowl", tmp_path / "no" / "folder.json", code=1)
    assert "format" in run("study", "export", "bowl", "--format", "word", code=1)


@pytest.mark.parametrize("kind", ["journal", "export"])
def test_a_study_moves_with_what_it_learned(server, run, tmp_path: Path, kind):
    file = tmp_path / "moved.jsonl"
    alone = minimize(bowl, SPACE, trials=12, journal=file)
    if kind == "export":
        run("study", "import", file, "--name", "first")
        file = tmp_path / "moved.json"
        run("study", "export", "first", file)
    assert "Study moved has 12 trials" in run("study", "import", file)

    found = server.history("moved").columns
    assert found.value == [each.value for each in alone.results()]
    assert found.config["lr"] == [each.config["lr"] for each in alone.results()]
    with server.open_study("moved") as study:
        assert study.space == SPACE
        study.extend(20)
        proposed = study.ask()
        reasons = server.trial("moved", proposed.number).reasons
        assert reasons.watermark == 12  # it knows them all


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("no.json", None, "cannot read"),
        ("a.jsonl", "", "cannot be parsed"),
        ("a.jsonl", "[1]\n", "cannot be parsed"),
        ("a.jsonl", '{"some": "log"}\n', "neither a journal nor an export"),
        ("a.json", "{}", "neither a journal nor an export"),
        ("a.json", "{", "cannot be parsed"),
    ],
)
def test_what_is_no_study_is_not_imported(run, tmp_path: Path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    assert said in run("study", "import", tmp_path / name, code=1)


@pytest.mark.usefixtures("bowls")
def test_trials_are_shown_explained_retried_and_cancelled(server, run):
    shown = run("trial", "show", "bowl", 3)
    assert "succeeded" in shown
    assert "config.lr" in shown
    assert "attempt 1" in shown
    assert json.loads(run("trial", "show", "bowl", 3, "-o", "json"))["trial"] == 3
    assert "One of the first draws" in run("trial", "why", "bowl", 3)
    assert "has no trial 9" in run("trial", "show", "bowl", 9, code=1)

    task = OfferedTask(name="t")
    server.register("w", WorkerSpec(incarnation="i", tasks=[task]))
    server.create_study(
        StudySpec.model_validate({"name": "f", "task": "t", "space": SPACE.to_json(), "max_attempts": 1})
    )
    [lease] = server.lease(LeaseRequest(worker="w", incarnation="i", request_id="r", tasks=["t"]))
    server.fail(lease.lease_id, Failure(kind="error", message="boom"))
    assert "failed" in run("trial", "show", "f", 0)
    assert "boom" in run("trial", "show", "f", 0)
    assert "Trial 0 of f is queued." in run("trial", "retry", "f", 0)
    assert "Trial 0 of f is cancelled." in run("trial", "cancel", "f", 0)
    assert "Error" not in run("trial", "cancel", "bowl", 0, code=1)


def test_a_trial_that_was_added_has_no_reasons(server, run):
    with server.open_study("mine", SPACE) as study:
        study.enqueue({"lr": 0.5, "layers": 2})
    assert run("trial", "why", "mine", 0) == "Trial 0 was not proposed: it was enqueued.\n"


TOML = """name = "s"
task = "t"

[space]
lr = { type = "float", low = 0.1, high = 1.0 }

[space.layers]
type = "int"
low = 1
high = 8
"""


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (('name = "s"', 'name = "no name"'), 1),
        (('lr = { type = "float"', 'lr = { type = "flaot"'), 5),
        (('type = "int"', 'type = "flaot"'), 7),
        (("low = 1\n", 'low = "one"\n'), 9),
        (('task = "t"', 'task = "t"\nmax_trials = 0'), 3),
    ],
)
@pytest.mark.parametrize("suffix", ["toml", "yaml", "json"])
def test_a_fault_of_a_study_file_is_told_with_its_line(run, tmp_path: Path, change, line, suffix):
    import tomllib

    text = TOML.replace(*change)
    if suffix != "toml":
        document = tomllib.loads(text)
        text = (
            json.dumps(document, indent=1) if suffix == "json" else yaml.safe_dump(document, sort_keys=False)
        )
        wrong = next(part for part in ("no name", "flaot", "one", "max_trials") if part in text)
        line = next(at for at, each in enumerate(text.splitlines(), start=1) if wrong in each)
        line -= wrong == "flaot"  # the dimension is wrong, and begins the line before
    file = tmp_path / f"study.{suffix}"
    file.write_text(text)
    assert f"is not a study: line {line}, " in run("study", "create", file, code=1)


def test_study_files_may_be_yaml(run, tmp_path: Path):
    file = tmp_path / "s.yaml"
    file.write_text("name: s\ntask: t\nspace: {x: {type: float, low: 0, high: 1}}\n")
    assert "Study s is active" in run("study", "create", file)
    file.write_text("name: [\n")
    assert "cannot be parsed" in run("study", "create", file, code=1)
    assert "line 2" in run("study", "create", file, code=1)


def test_the_schema_takes_what_the_server_takes(run):
    schema = json.loads(run("study", "schema"))
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"name": "s", "task": "t", "space": SPACE.to_json()}
    jsonschema.validate(good, schema)
    for bad in ({"name": "no name"}, {"max_trials": 0}, {"space": {}}, {"unknown": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(good | bad, schema)


CELLS = st.one_of(
    st.integers(), st.text('a,"\n', max_size=5), st.dictionaries(st.text("xy", min_size=1), st.integers())
)


@given(st.lists(st.dictionaries(st.text("abc", min_size=1, max_size=2), CELLS), max_size=5))
def test_csv_reads_back_as_it_was(rows):
    read = list(
        csv.DictReader(io.StringIO(_csv([{"n": n, **row} for n, row in enumerate(rows)]), newline=""))
    )
    assert [row["n"] for row in read] == [str(n) for n in range(len(rows))]
    for row, found in zip(rows, read, strict=True):
        for name, cell in row.items():
            inner = (
                {f"{name}.{key}": value for key, value in cell.items()}
                if isinstance(cell, dict)
                else {name: cell}
            )
            assert all(found[each] == str(value) for each, value in inner.items())
