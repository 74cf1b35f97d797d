import os
from pathlib import Path

import pytest

from tests.conftest import a_database
from thiessen.contract import Lease, StudySpec
from worker.attempt import Terms
from worker.child import Place
from worker.limits import Limits

STRANGE_TASKS = Path(__file__).parent / "strange_tasks"


@pytest.fixture
def database(request, tmp_path):
    """The address of an empty database, of SQLite unless the test asks for both.

    A worker sees HTTP only, and that is the same on both: tests/api and tests/lifecycle show it.
    """
    with a_database(request, getattr(request, "param", "sqlite"), tmp_path) as address:
        yield address


@pytest.fixture
def work(programs):
    """Starts a worker that also offers the strange tasks."""

    def start(client, *options, path=(), **environment):
        path = os.pathsep.join([*path, str(STRANGE_TASKS), *filter(None, [os.environ.get("PYTHONPATH")])])
        return programs("worker", "--server", client.url, *options, PYTHONPATH=path, **environment)

    return start


def a_study(task, **changed):
    values = {
        "name": task,
        "task": task,
        "space": {
            "x": {"type": "float", "low": 0.0, "high": 1.0},
            "seconds": {"type": "float", "low": 0.0, "high": 0.0},
        },
        "max_trials": 1,
        "max_attempts": 1,
    }
    return StudySpec.model_validate(values | changed)


def a_lease(**changed):
    values = {
        "lease_id": "1" * 32,
        "study": "s",
        "trial": 0,
        "attempt": 1,
        "task": "takes",
        "config": {"x": 1.0, "seconds": 0.0},
        "seed": 1,
        "expires_at": "2027-01-01T00:00:00Z",
        "lease_seconds": 1.0,
    }
    return Lease.model_validate(values | changed)


CPU = Place(device="cpu", visible_gpus="", threads=1)


def terms(folder, **limits):
    return Terms(limits=Limits(**limits), checkpoints=folder, checkpoint_seconds=60.0, grace_seconds=10.0)


@pytest.fixture
def slow_study():
    """One trial that takes a minute, unless somebody ends it."""
    space = {
        "x": {"type": "float", "low": 0.0, "high": 1.0},
        "seconds": {"type": "float", "low": 60.0, "high": 60.0},
    }
    return a_study("takes", space=space, max_attempts=3)


@pytest.fixture(name="a_study")
def _a_study():
    return a_study


@pytest.fixture
def data_folder(monkeypatch, tmp_path):
    """An empty folder for data files; what is kept of them is kept beside it."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("THIESSEN_DATA_DIR", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder
