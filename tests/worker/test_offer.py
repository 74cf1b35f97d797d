import pytest

from worker.offer import offer
from worker.tasks import Task, installed

SPACE = {"x": {"type": "float", "low": 0.0, "high": 1.0}}


@pytest.mark.parametrize("name", ["autoencoder", "classifier", "function", "sequence"])
def test_every_task_of_ours_is_offered_with_its_schema_and_spaces(name):
    task = installed()[name]

    told = offer(task)

    assert (told.name, told.description) == (name, task.description)
    assert told.config_schema == task.schema
    assert told.model_dump(exclude_unset=True)["spaces"] == task.spaces


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": {"x": "x" * 200_001}},
        {"spaces": {"a": {"x": {"type": "flaot"}}}},
        {"schema": {"x": {1: 2}}},
    ],
)
def test_what_a_server_would_refuse_is_left_out_aloud(wrong, caplog):
    told = offer(Task("t", lambda _config, _context: 0.0, version="1", **({"spaces": {"a": SPACE}} | wrong)))

    assert (told.name, told.version, told.config_schema, told.spaces) == ("t", "1", {}, {})
    assert "task 't' is offered without its schema and spaces" in caplog.text
