import hashlib
import sys

import pytest

from worker.functions import NoSuchTask, chosen, function, source, written

TEXT = """
from worker.tasks import Task

def train(config, context):
    return config["x"]

OTHER = Task("other", train, version="7")
NUMBER = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "mine_for_a_test.py").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("mine_for_a_test", None)  # of another test, from another folder
    return tmp_path / "mine_for_a_test.py"


def test_a_function_is_a_task_whose_version_is_the_hash_of_its_source(here):
    offer = function("mine_for_a_test:train")
    task = offer.task

    assert task.name == "mine_for_a_test.train"
    assert task.version == hashlib.sha256(here.read_bytes()).hexdigest()[:12]
    assert task.train({"x": 2.0}, None) == 2.0
    assert source(task) == here
    assert written(offer.reference).train is task.train


def test_a_task_keeps_its_name_and_version():
    task = function("mine_for_a_test:OTHER").task

    assert (task.name, task.version) == ("other", "7")


def test_only_what_was_asked_for_is_offered():
    assert sorted(chosen(["classifier", "mine_for_a_test:train"])) == ["classifier", "mine_for_a_test.train"]
    assert "classifier" in chosen([])


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("nothing", "'nothing' is not installed here: there are .*classifier"),
        ("nothing:train", "'nothing:train' cannot be loaded: ModuleNotFoundError"),
        ("mine_for_a_test:test", "'mine_for_a_test:test' cannot be loaded: AttributeError"),
        ("mine_for_a_test:NUMBER", "is no function"),
        ("sys:exit", "'sys:exit' cannot be loaded"),
    ],
)
def test_a_task_that_is_not_here_is_refused_with_the_cure(wish, said):
    with pytest.raises(NoSuchTask, match=said):
        chosen([wish])
