"""What workers say that their tasks accept, and what the server makes of it."""

from functools import partial

import pytest
from sqlalchemy import func, select

from app.domain.access import Principal, Scope
from app.lifecycle import register as registering
from app.storage.tables import offers

SCHEMA = {
    "type": "object",
    "properties": {
        "x": {"type": "number", "minimum": 0, "maximum": 1},
        "rule": {"enum": ["sgd", "adam"]},
    },
    "additionalProperties": False,
}
SPACES = {
    "sgd": {"x": {"type": "boolean"}},
    "adam": {"x": {"type": "float", "low": 0.1, "high": 1.0, "log": True}},
}
X = {"type": "float", "low": 0, "high": 1}


def register(api, worker="w", **changed):
    task = {"name": "t", "version": "1", "schema": SCHEMA, "spaces": SPACES} | changed
    told = {"incarnation": "i", "tasks": [{name: told for name, told in task.items() if told is not None}]}
    answer = api.put(f"/api/v1/workers/{worker}", json=told)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_a_task_accepts_is_offered_as_it_was_told(caller):
    register(caller.api, description="Train t.")

    [task] = caller.get("/tasks").json()["tasks"]

    assert task == {
        "name": "t",
        "versions": ["1"],
        "workers": 1,
        "description": "Train t.",
        "schema": SCHEMA,
        "spaces": SPACES,
    }
    assert list(task["spaces"]) == ["sgd", "adam"]  # the usual one first
    assert caller.get("/tasks/t").json() == task


def test_a_worker_is_listed_without_what_its_tasks_accept(caller):
    register(caller.api)

    [worker] = caller.get("/workers").json()["workers"]

    assert worker["tasks"] == [{"name": "t", "version": "1", "description": ""}]


def test_a_task_that_nobody_has_is_not_found_and_the_nearest_is_named(caller):
    register(caller.api, name="classifier")

    answer = caller.get("/tasks/clasifier")

    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:thiessen:task-not-found"
    assert "the nearest is 'classifier'" in answer.json()["detail"]


def test_of_several_workers_the_last_seen_says_what_a_task_accepts(caller):
    register(caller.api, "old", version="1", schema={"properties": {"y": {}}})
    register(caller.api, "new", version="2")

    task = caller.get("/tasks/t").json()

    assert (task["versions"], task["workers"], task["schema"]) == (["1", "2"], 2, SCHEMA)


def test_a_worker_that_registers_again_offers_what_it_says_now(caller):
    register(caller.api)
    register(caller.api, schema=None, spaces=None)

    task = caller.get("/tasks/t").json()

    assert (task["schema"], task["spaces"]) == ({}, {})


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"y": X}, "dimension 'y' is no setting of it; there are rule, x"),
        ({"xs": X}, "dimension 'xs' is no setting of it; the nearest is 'x'"),
        (
            {"x": {"type": "float", "low": 0, "high": 1.5}},
            "dimension 'x': it is a number at least 0",
        ),
        (
            {"rule": {"type": "categorical", "choices": ["adm"]}},
            "dimension 'rule': it is one of 'sgd'",
        ),
        ({"x": X, "y": X, "z": X}, "dimension 'y' is no setting of it; there are rule, x; dimension 'z'"),
    ],
)
def test_a_space_beyond_what_the_task_accepts_is_refused_with_the_cure(caller, space, said):
    register(caller.api)

    answer = caller.create(space=space)

    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:thiessen:invalid-request"
    assert f"The space is not one of task 't' in version 1: {said}" in answer.json()["detail"]
    assert "GET /api/v1/tasks/t says what it accepts." in answer.json()["detail"]
    assert caller.get("/studies/s").status_code == 404


def test_a_space_that_one_registered_version_accepts_is_taken(caller):
    register(caller.api, "old", version="1", schema=SCHEMA | {"properties": {"y": {"type": "number"}}})
    register(caller.api, "new", version="2")

    assert caller.create(space={"y": X}).status_code == 201


def test_no_version_accepts_one_dimension_and_another_version_the_next(caller):
    register(caller.api, "old", version="1", schema=SCHEMA | {"properties": {"y": {"type": "number"}}})
    register(caller.api, "new", version="2")

    answer = caller.create(space={"x": X, "y": X})

    assert answer.status_code == 422
    assert "in version 2: dimension 'y'" in answer.json()["detail"]


def test_a_task_without_a_schema_takes_any_space(caller):
    register(caller.api, schema=None)

    assert caller.create(space={"anything": X}).status_code == 201


def test_a_study_that_is_there_already_is_not_refused_by_a_newer_schema(caller):
    assert caller.create(space={"y": X}).status_code == 201
    register(caller.api)

    assert caller.create(space={"y": X}).status_code == 200


def test_a_study_of_a_task_that_nobody_has_registered_is_taken_and_says_what_it_waits_for(caller):
    register(caller.api, name="classifier")

    created = caller.create(task="clasifier")

    assert created.status_code == 201
    said = "No worker has registered task 'clasifier' yet; the nearest is 'classifier'."
    assert created.json()["waits_for"] == said
    assert caller.get("/studies/s").json()["waits_for"] == said
    assert caller.get("/studies").json()["studies"][0]["waits_for"] == said


def test_a_study_waits_for_a_worker_once_its_task_is_registered(caller):
    register(caller.api)
    caller.create()

    assert caller.get("/studies/s").json()["waits_for"].startswith("No worker has asked for task 't' since")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"schema": {"properties": {"x": {"description": "x" * 200_000}}}},
            "at most 200000 characters",
        ),
        ({"schema": {"x": "a\0"}}, "NUL"),
        ({"spaces": {"a": {"x": {"type": "flaot"}}}}, "the nearest is 'float'"),
        ({"spaces": {str(number): {"x": X} for number in range(101)}}, "at most 100 items"),
    ],
)
def test_what_is_too_long_or_no_space_is_refused(api, changed, said):
    told = {"incarnation": "i", "tasks": [{"name": "t"} | changed]}

    answer = api.put("/api/v1/workers/w", json=told)

    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_what_many_workers_offer_is_kept_once(store):
    task = {"name": "t", "version": "1", "description": "", "schema": SCHEMA, "spaces": {}}
    told = {"incarnation": "i", "slots": [], "labels": {}, "tasks": [task]}
    wim = Principal("wim", frozenset({Scope.WORK}))
    for name in ("a", "b", "a"):
        store.write(partial(registering.register, name=name, who=wim, **told))

    assert store.read(lambda tx: tx.scalar(select(func.count()).select_from(offers))) == 1
