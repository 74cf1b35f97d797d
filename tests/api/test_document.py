"""The OpenAPI document: every call described, every example good."""

import pytest

from tests.api.conftest import Caller, a_study
from tests.api.test_restart import served


@pytest.fixture
def document(api):
    return api.get("/openapi.json").json()


def operations(document):
    return [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def examples(document, operation):
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    for kind in schema.get("anyOf", [schema]):
        yield from document["components"]["schemas"][kind["$ref"].rsplit("/", 1)[-1]]["examples"]


@pytest.mark.row(254)
def test_every_call_says_what_it_does_who_may_and_how_it_refuses(document):
    for _, path, operation in operations(document):
        assert operation["description"].endswith("."), path
        assert "\n" not in operation["description"], path  # a row of a table has it
        assert all(parameter["description"] for parameter in operation.get("parameters", [])), path
        assert [list(needed) for needed in operation["security"]] == [["token"]]
        assert operation["security"][0]["token"][0] in {"read", "submit", "work", "admin"}
        refusals = {status for status in operation["responses"] if status >= "400"}
        assert {"401", "403", "429", "422"} <= refusals
        assert all("application/problem+json" in operation["responses"][each]["content"] for each in refusals)


def test_every_field_says_what_it_means(document):
    untold = [
        f"{kind}.{name}"
        for kind, schema in document["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if not field.get("description", "").endswith(".")  # also where its type is described
    ]

    assert untold == []


def test_every_call_on_studies_is_there_for_each_project_too(document):
    paths = {path.removeprefix("/api/v1") for path in document["paths"]}

    of_projects = {
        path
        for path in paths
        if path.startswith(("/studies", "/compare", "/comparisons", "/profile", "/optuna"))
    }
    assert {f"/projects/{{project}}{path}" for path in of_projects} <= paths


@pytest.mark.row(254)
def test_every_example_of_a_body_is_taken(database):
    with served(database, allow_private_webhooks=True) as api:
        document = api.get("/openapi.json").json()
        caller, sent = Caller(api), 0
        for method, path, operation in operations(document):
            for example in examples(document, operation) if "requestBody" in operation else ():
                where = path.format(**what_exists(caller, path, name=f"n{sent}"))
                told = example | {"wait_seconds": 0} if "wait_seconds" in example else example
                if path.endswith("/optuna/studies"):  # their names are not taken twice
                    told = example | {"name": f"n{sent}"}
                answer = api.request(method, where, json=told)
                # A webhook's host is looked up, and a test may have nobody to ask.
                is_unknown_host = path.endswith("/webhooks") and "no address" in answer.text
                assert answer.is_success or is_unknown_host, (path, answer.text)
                sent += 1

    assert sent >= 20


def what_exists(caller, path, name):
    """Make one of everything; return what its parts are called on a path."""
    space = {"lr": {"type": "float", "low": 0, "high": 1}, "hidden": {"type": "int", "low": 1, "high": 99}}
    caller.api.post("/api/v1/projects", json={"name": name})
    for at in ("", f"/projects/{name}"):
        study = a_study(name=name, task=name, space=space)
        caller.api.post(f"/api/v1{at}/studies", json=study)
        first = {"trials": [{"config": {"lr": 0.9, "hidden": 9}}]}
        caller.api.post(f"/api/v1{at}/studies/{name}/trials", json=first)
        arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
        compared = {"name": name, "task": "nobody", "space": {"lr": space["lr"]}, "arms": arms}
        caller.api.post(
            f"/api/v1{at}/comparisons", json=compared | {"budget": {"trials": 2}, "replicates": 2}
        )
    worker = {"incarnation": "i", "tasks": [{"name": name}]}
    caller.api.put(f"/api/v1/workers/{name}", json=worker)
    lease_id = caller.leased(tasks=[name])["lease_id"]
    at = f"/api/v1/projects/{name}/optuna" if "{project}" in path else "/api/v1/optuna"
    theirs = {"name": f"their-{name}", "directions": ["minimize"]}
    study_id = caller.api.post(f"{at}/studies", json=theirs).json()["id"]
    added = caller.api.post(f"{at}/studies/{study_id}/trials", json={"trials": [{}]}).json()
    ids = {"study_id": study_id, "trial_id": added["trials"][0]["id"]}
    if "{webhook_id}" in path:  # each is told of all that happens from then on
        ids["webhook_id"] = caller.api.post("/api/v1/webhooks", json={"url": "http://127.0.0.1:9/"}).json()[
            "id"
        ]
    return {"name": name, "project": name, "number": 0, "lease_id": lease_id, **ids}
