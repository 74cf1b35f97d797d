"""A study of Optuna on our server is an ordinary study there too: its mirror."""

import json
import subprocess
import sys

import httpx
import optuna
import pytest
from optuna.trial import create_trial

from app.storage.check import faults
from tests.thiessen.test_commands import run
from thiessen.contract import NewTrial, StudyChanges, StudySpec, TrialChanges
from thiessen.errors import InvalidRequest, StudyEnded
from thiessen.integrations.optuna_storage import ThiessenStorage

optuna.logging.set_verbosity(optuna.logging.ERROR)

PROGRAM = """
import optuna, sys
from thiessen.integrations.optuna_storage import ThiessenStorage

study = optuna.load_study(study_name="both", storage=ThiessenStorage(sys.argv[1]))
study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 0, 9), n_trials=15)
"""


@pytest.fixture
def storage(server):
    opened = ThiessenStorage(server.url)
    yield opened
    opened.close()


def asked(server, path):
    return httpx.get(f"{server.url}/api/v1/studies/{path}").raise_for_status().json()


def tried(trial):
    x = trial.suggest_float("x", 0, 1, step=0.25)
    if trial.suggest_categorical("kind", ["deep", None, (1, 2)]) == "deep":
        trial.suggest_int("layers", 2, 8, step=2)
    if trial.number == 2:
        raise ValueError
    if trial.number == 3:
        trial.report(0.5, 1)
        trial.report(0.75, 2)
        raise optuna.TrialPruned
    return x * trial.number


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_every_trial_that_finished_is_in_the_mirror(server, storage, database, tmp_path, direction):
    sampler = optuna.samplers.RandomSampler(seed=1)
    study = optuna.create_study(study_name="s", direction=direction, storage=storage, sampler=sampler)
    study.optimize(tried, n_trials=12, catch=ValueError)
    study.ask()

    states = ["succeeded"] * 12
    states[2:4] = ["failed", "pruned"]
    trials = [server.trial("s", number) for number in range(12)]
    assert [each.state for each in trials] == states
    for ours, theirs in zip(trials, study.trials, strict=False):
        config = {name: "[1, 2]" if each == [1, 2] else each for name, each in theirs.params.items()}
        assert (ours.config, ours.value) == (config, theirs.value)
    assert trials[3].value == 0.75
    assert len({tuple(each.config) for each in trials}) == 2  # some have layers, some have not
    best, known = server.best("s")[0], server.study("s")
    assert (best.value, best.trial) == (study.best_value, study.best_trial.number)
    assert (known.is_mirror, known.is_open, known.direction, known.state) == (True, True, direction, "active")
    assert (known.tags, known.attributes) == (["optuna"], {"optuna_study": study._study_id})
    assert "programs add its trials" in known.waits_for
    assert asked(server, "s/replay") | {"mismatches": []} == asked(server, "s/replay")
    exported = tmp_path / "s.json"
    exported.write_bytes(server.export("s"))
    assert [each["state"] for each in json.loads(exported.read_text())["trials"]] == states
    assert run("replay", exported).exit_code == 0
    assert "12 of 12 trials finished" in run("study", "show", "s", "--server", server.url).output
    pages = [httpx.get(f"{server.url}{path}").text for path in ("/", "/studies/s")]
    assert all("12 of 12" in page for page in pages)
    assert "programs add its trials" in pages[1]
    assert faults(database) == []


def test_two_programs_at_once_fill_one_mirror(server, storage, database):
    study = optuna.create_study(study_name="both", storage=storage)
    command = [sys.executable, "-c", PROGRAM, server.url]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [each.wait() for each in running] == [0, 0]

    trials = [server.trial("both", number) for number in range(30)]
    values = {each.number: (each.value, each.params) for each in study.trials}
    assert {each.attributes["optuna_number"]: (each.value, each.config) for each in trials} == values
    assert server.best("both")[0].value == study.best_value
    assert faults(database) == []


def test_what_the_space_does_not_take_is_left_out_and_no_program_fails(server, storage, database):
    study = optuna.create_study(study_name="s", storage=storage)
    study.optimize(lambda trial: float(trial.suggest_categorical("x", [2, 3])), n_trials=1)
    study.optimize(
        lambda trial: trial.suggest_categorical("x", [2.0, 3.0]) + trial.suggest_float("y", -9, -8),
        n_trials=1,
    )

    second = server.trial("s", 1)
    assert set(second.config) == {"y"}
    assert second.notes.startswith("The param 'x', ")
    assert server.best("s")[0].value == study.best_value == second.value
    assert faults(database) == []


def test_trials_that_are_copied_in_are_mirrored(server, storage):
    study = optuna.create_study(study_name="s", storage=storage)
    study.add_trials([create_trial(value=value) for value in (3.0, float("inf"), -1.0)])
    assert [server.trial("s", number).state for number in range(3)] == ["succeeded", "diverged", "succeeded"]
    assert server.best("s")[0].value == study.best_value


def test_a_mirror_takes_nothing_from_others(server, storage):
    study = optuna.create_study(study_name="s", storage=storage)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) / 0, n_trials=1, catch=ZeroDivisionError)

    with pytest.raises(StudyEnded, match="mirrors a study of Optuna, whose programs alone add trials"):
        server.add_trials("s", [NewTrial(config={"x": 0.5})])
    for changes in ({"max_trials": 9}, {"state": "paused"}):
        with pytest.raises(StudyEnded, match="mirrors"):
            server.change_study("s", StudyChanges(**changes))
    with pytest.raises(StudyEnded, match="mirrors"):
        server.change_trial("s", 0, TrialChanges(state="queued"))
    with server.open_study("s") as ours, pytest.raises(InvalidRequest, match="mirrors a study of Optuna"):
        ours.optimize(lambda trial: trial.suggest_float("x", 0, 1))
    assert server.change_study("s", StudyChanges(tags=["mine"], notes="")).tags == ["mine"]
    assert server.change_trial("s", 0, TrialChanges(notes="by zero")).notes == "by zero"


def test_a_mirror_goes_by_another_name_where_its_own_is_taken_or_none_of_ours(server, storage):
    space = {"x": {"type": "float", "low": 0.0, "high": 1.0}}
    server.create_study(StudySpec(name="taken", task="t", space=space))
    for name in ("taken", "a/b ü", "_", "x" * 101):
        study = optuna.create_study(study_name=name, storage=storage)
        known = server.studies().studies[0]
        spelled = {"taken": "taken", "a/b ü": "a-b--", "_": "optuna"}.get(name, "x" * 70)
        assert known.name == f"{spelled}-{study._study_id}"
        assert f"Mirrors the study {name!r} of Optuna" in known.notes
    optuna.create_study(study_name="two", storage=storage, directions=["minimize"] * 2)
    assert not [each for each in server.each_study() if each.name == "two"]


def test_a_study_that_is_deleted_leaves_its_mirror_among_the_archived(server, storage, database):
    study = optuna.create_study(study_name="s", storage=storage)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    optuna.delete_study(study_name="s", storage=storage)
    assert server.studies().studies == []
    assert server.study("s").archived_at is not None
    assert server.study("s").counts.succeeded == 2

    again = optuna.create_study(study_name="s", storage=storage)
    server.delete_study(f"s-{again._study_id}")  # a mirror that a person deletes is filled no more
    again.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert server.study(f"s-{again._study_id}").counts.finished == 0
    assert faults(database) == []


def test_mirrors_use_up_no_quota(server):
    httpx.post(f"{server.url}/api/v1/projects", json={"name": "small", "max_studies": 1}).raise_for_status()
    small = ThiessenStorage(server.url, project="small")
    optuna.create_study(study_name="s", storage=small)
    with pytest.raises(Exception, match="has its 1 studies"):
        optuna.create_study(study_name="t", storage=small)
    spec = {"name": "ours", "task": "t", "space": {"x": {"type": "float", "low": 0.0, "high": 1.0}}}
    httpx.post(f"{server.url}/api/v1/projects/small/studies", json=spec).raise_for_status()
    small.close()
