"""Studies of Optuna move from a database of theirs to a server, and back, as they are."""

import sqlite3
from contextlib import closing

import optuna
import pytest
from optuna.storages import RDBStorage
from optuna.trial import TrialState

from tests.thiessen.test_commands import run
from thiessen.cli import optuna as commands
from thiessen.integrations.optuna_storage import ThiessenStorage

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture
def old(tmp_path):
    """The address of a database of Optuna with a study of each kind, and trials in every state."""
    address = f"sqlite:///{tmp_path}/old.db"
    for name, directions in (("one", ["maximize"]), ("two", ["minimize", "maximize"])):
        study = optuna.create_study(study_name=name, storage=address, directions=directions)
        study.set_user_attr("who", {"ann": [float("inf"), None]})
        study.enqueue_trial({"x": 0.25}, user_attrs={"given": True})
        study.optimize(tried, n_trials=5, catch=ValueError)
        study.ask()
        study.enqueue_trial({"x": 0.5})
        study.add_trial(
            optuna.trial.create_trial(state=TrialState.FAIL, intermediate_values={-3: float("nan"), 5: 1e300})
        )
        study._storage.remove_session()
        study._storage._backend.engine.dispose()
    return address


def tried(trial):
    x = trial.suggest_float("x", 0, 1, step=0.25)
    trial.suggest_categorical("kind", ["a", None, 3])
    if trial.number == 2:
        raise ValueError
    if trial.number == 3:
        raise optuna.TrialPruned
    return (x,) * len(trial.study.directions)


def whole(address, name):
    storage = address if isinstance(address, ThiessenStorage) else RDBStorage(address)
    study = optuna.load_study(study_name=name, storage=storage)
    trials = study.get_trials()
    for trial in trials:
        trial._trial_id = 0
    if not isinstance(address, ThiessenStorage):
        storage.engine.dispose()
    return repr((study.directions, study.user_attrs, [vars(each) for each in trials]))


def failure(*command):
    return str(run(*command).exception)


def test_studies_move_to_the_server_and_back_as_they_are(server, old, tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "LARGEST", 1000)  # some requests for a study
    at = ("--server", server.url)
    said = run("optuna", "import", old, *at)
    assert f"{server.url} has study 'two' of Optuna: 8 trials." in said.output
    storage = ThiessenStorage(server.url)
    new = f"sqlite:///{tmp_path}/new.db"
    for name in ("one", "two"):
        assert whole(storage, name) == whole(old, name)
        assert f"{new} has study '{name}': 8 trials." in run("optuna", "export", name, new, *at).output
        assert whole(new, name) == whole(old, name)

    assert "a study 'one' of Optuna already, and nothing was copied" in failure("optuna", "import", old, *at)
    assert "a study 'one' of Optuna already" in failure("optuna", "export", "one", new, *at)
    storage.close()


def test_one_study_is_picked_and_what_is_not_there_is_said(server, old, tmp_path):
    at = ("--server", server.url)
    run("optuna", "import", old, "--study", "two", *at)
    storage = ThiessenStorage(server.url)
    assert [each.study_name for each in storage.get_all_studies()] == ["two"]
    storage.close()

    assert f"{old} has no study 'three'." in failure("optuna", "import", old, "--study", "three", *at)
    assert "no study 'one' of Optuna" in failure("optuna", "export", "one", old, *at)
    assert f"there is no file {tmp_path}/x.db" in failure(
        "optuna", "import", f"sqlite:///{tmp_path}/x.db", *at
    )
    assert not (tmp_path / "x.db").exists()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE recipes (id INTEGER)")
    assert failure("optuna", "import", f"sqlite:///{tmp_path}/other.db", *at)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_a_copy_that_cannot_be_finished_is_removed(server, old):
    study = optuna.load_study(study_name="one", storage=old)
    large = optuna.trial.create_trial(value=1.0, user_attrs={"large": "x" * 899_999})
    study.add_trial(large)
    study._storage._backend.engine.dispose()

    said = failure("optuna", "import", old, "--study", "one", "--server", server.url)

    assert "trial 8 is none that a server takes: user_attributes.large: " in said
    storage = ThiessenStorage(server.url)
    assert storage.get_all_studies() == []
    storage.close()
