"""Open spaces on a server, driven by programs: the same as with a journal."""

import csv
import io
import json
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.programs import programs as random_programs
from tests.thiessen.test_open_space import SEARCHES, branching
from thiessen import Boolean, Float, Int, Space, connect, minimize, open_study
from thiessen.cli.main import build
from thiessen.errors import InvalidRequest, StudyExists, StudyNotFound
from thiessen.integrations import KNOWN
from thiessen.search.record import Record
from thiessen.space import OpenSpace, SpaceError

X = {"type": "float", "low": 0, "high": 1}


@pytest.fixture
def inside(database):
    """A client of a server in this process."""
    with connect(database) as client:
        yield client


def mismatches(client, name):
    record = Record.from_json(json.loads(client.export(name)), KNOWN)
    return [each for found in record.replay() for each in found]


@pytest.mark.row(241)
def test_a_server_proposes_what_a_journal_would(inside):
    with inside.open_study("mine", "open", trials=40, seed=5) as study:
        study.optimize(branching)
        alone = open_study(None, "open", trials=40, seed=5).optimize(branching)
        assert study.results() == alone.results()
        assert study.best == alone.best
        assert study.space == OpenSpace.from_json(alone.space.to_json())
        assert list(study.dataframe().columns) == ["state", "value", *alone.space.dimensions]
    assert mismatches(inside, "mine") == []
    assert inside.study("mine").is_open


NAMES = count()


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random_programs(), SEARCHES, st.integers(0, 99))
def test_of_random_programs_too(inside, program, search, seed):
    name = f"random-{next(NAMES)}"
    terms = {"trials": 20, "strategy": search, "seed": seed}
    with inside.open_study(name, "open", **terms) as study:
        study.optimize(program, catch=ZeroDivisionError)
        served = study.results()
    alone = open_study(None, "open", **terms).optimize(program, catch=ZeroDivisionError)
    assert [(each.number, each.state, each.value) for each in served] == [
        (each.number, each.state, each.value) for each in alone.results()
    ]
    assert [inside.trial(name, each.number).config for each in served] == [
        each.config for each in alone.results()
    ]
    assert mismatches(inside, name) == []


def test_several_programs_share_it_and_a_server_computes_their_proposals_again(server, programs):
    with server.open_study("mine", "open", trials=40) as study, server.open_study("mine") as other:
        study.optimize(branching, trials=10, n_jobs=3)
        other.optimize(branching, n_jobs=3)
        assert study.ended == other.ended == 40
        assert study.space == other.space
        assert set(study.space.dimensions) == {"lr", "deep", "layers"}
    process = programs("replay", "mine", "--server", server.url)
    assert process.wait() == 0
    assert process.log.read_text() == "All 40 proposals match.\n"
    assert mismatches(server, "mine") == []


def test_what_another_program_asked_for_is_refused_as_something_else(inside):
    with inside.open_study("mine", "open", trials=3) as study:
        one, other = study.ask(), study.ask()
        with one:
            one.tell(one.float("x", 0, 1))
        with pytest.raises(InvalidRequest, match="'x' is Float"), other:
            other.tell(other.int("x", 0, 1))
        with study.ask() as again:
            assert again.number == other.number
            with pytest.raises(SpaceError, match="'x' is Float"):
                again.int("x", 0, 1)
            again.tell(again.float("x", 0, 1))
        assert [each.state for each in study.results()] == ["succeeded", "succeeded"]


def test_what_no_server_takes_is_said_by_name(inside):
    with inside.open_study("mine", "open", trials=3) as study:
        trial = study.ask()
        trial.categorical("kind", ["a" * 1001, "b"])
        with pytest.raises(InvalidRequest, match=r"asked for what no server takes: .*choices"), trial:
            trial.tell(1.0)


def test_an_error_fails_the_attempt_and_says_what_was_asked_for(inside):
    def broken(trial):
        trial.float("x", 0, 1)
        raise ZeroDivisionError

    with inside.open_study("mine", "open", trials=3) as study:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                study.optimize(broken)
        study.optimize(broken, trials=1, catch=ZeroDivisionError)
        assert [each.state for each in study.results()] == ["failed", "failed"]
        assert [list(each.config) for each in study.results()] == [["x"], ["x"]]


def test_a_study_is_open_because_it_was_said(inside):
    with pytest.raises(StudyNotFound):
        inside.open_study("mine")
    inside.open_study("mine", "open").close()
    inside.open_study("mine", "open").close()
    assert inside.open_study("mine").space.is_open
    with pytest.raises(StudyExists, match="space differ"):
        inside.open_study("mine", Space(x=Float(0, 1)))
    inside.open_study("declared", Space(x=Float(0, 1))).close()
    with pytest.raises(StudyExists, match="space differ"):
        inside.open_study("declared", "open")


def test_trials_are_added_with_their_dimensions(inside):
    with inside.open_study("mine", "open", trials=5) as study:
        study.add({"lr": 0.1}, 1.0, Space(lr=Float(0, 1), unused=Boolean()))
        study.add({"lr": 0.2}, float("nan"))
        with pytest.raises(InvalidRequest, match="no dimension is known"):
            study.add({"new": 0.2}, 1.0)
        study.enqueue({"lr": 0.3, "n": 2})
        with study.ask() as trial:
            assert (trial.float("lr", 0, 1), trial.int("n", 1, 4)) == (0.3, 2)
            trial.tell(0.5)
        assert study.space.dimensions == {"lr": Float(0, 1), "n": Int(1, 4)}
        assert [each.config for each in study.results()] == [{"lr": 0.1}, {"lr": 0.2}, {"lr": 0.3, "n": 2}]
    rows = list(csv.DictReader(io.StringIO(inside.export("mine", "csv").decode())))
    assert [(row["config.lr"], row["config.n"]) for row in rows] == [("0.1", ""), ("0.2", ""), ("0.3", "2")]
    assert inside.export("mine", "parquet")


@pytest.mark.parametrize("kind", ["journal", "export"])
def test_a_study_moves_with_what_its_trials_asked_for(server, tmp_path, kind):
    def run(*command):
        said = CliRunner().invoke(build(), list(map(str, command)), env={"THIESSEN_SERVER": server.url})
        assert said.exit_code == 0, said.output
        return said.output

    file = tmp_path / "moved.jsonl"
    alone = minimize(branching, trials=12, journal=file)
    if kind == "export":
        run("study", "import", file, "--name", "first")
        file = tmp_path / "moved.json"
        run("study", "export", "first", file)
    assert "Study moved has 12 trials" in run("study", "import", file)
    with server.open_study("moved") as study:
        assert [each.config for each in study.results()] == [each.config for each in alone.results()]
        assert study.space.dimensions == OpenSpace.from_json(alone.space.to_json()).dimensions
        study.extend(14)
        study.optimize(branching)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"strategy": "grid"}, "grid lays its configs out over the whole space"),
        ({"strategy": "quasi_random"}, "Declare the space"),
        ({"duplicates": "memoise"}, "duplicates cannot be memoise"),
        ({"space": "opened"}, "space"),
        ({"space": {}}, "space"),
    ],
)
def test_what_an_open_study_cannot_be_is_refused(api, changed, said):
    answer = api.post("/api/v1/studies", json={"name": "s", "task": "t", "space": "open"} | changed)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"config": {"x": 0.5}, "dimensions": {"x": X | {"when": {"y": [1]}}}}, "x"),
        ({"config": {"x": 0.5}, "dimensions": {"x": X | {"type": "real"}}}, "x"),
        ({"config": {"x": 0.5}, "dimensions": {"": X}}, "dimensions"),
        ({"config": {"x": 0.5}}, "no dimension is known for ['x']"),
        ({"config": {"x": 7}, "dimensions": {"x": X}}, "'x' cannot be 7"),
        ({"config": {f"x{at}": 0 for at in range(257)}}, "config"),
        ({"config": {}, "dimensions": {f"x{at}": X for at in range(257)}}, "dimensions"),
        ({"dimensions": {}}, "config"),
        (None, "say what the trial asked for"),
    ],
)
def test_what_a_trial_cannot_have_asked_for_is_refused(api, asked, said):
    api.post("/api/v1/studies", json={"name": "s", "task": "t", "space": "open"})
    wish = {"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"], "studies": ["s"]}
    [leased] = api.post("/api/v1/leases", json=wish).json()["leases"]
    assert (leased["config"], leased["space"]) == ({}, {})
    answer = api.post(f"/api/v1/leases/{leased['lease_id']}/complete", json={"value": 1.0, "asked": asked})
    assert answer.status_code == 422, answer.text
    assert said in answer.json()["detail"]
    assert api.get("/api/v1/studies/s").json()["space"] == {}
