"""Every route before everybody who may not: what it answers, and that a new one cannot be forgotten."""

import pytest

from app.domain.access import Scope
from app.gate import MORE, is_open
from tests.api.test_access import routes
from tests.api.test_problems import is_a_problem

NOBODY = ("wrong", "empty", "revoked", "expired")
WORDS = {  # what stands in a path for what there is
    r"/studies/{name}": "study",
    r"/comparisons/{name}": "comparison",
    r"/workers/{name}": "worker",
    r"/tasks/{name}": "task",
    r"/leases/{lease_id}": "lease",
    r"/optuna/studies/{study_id}": "optuna study",
    r"/optuna/trials/{trial_id}": "optuna trial",
    r"/webhooks/{webhook_id}": "webhook",
}
CHOSEN = {
    "/tokens/{name}": "/tokens/root",
    "/figures/{figure}": "/figures/history",
    "/compare/{figure}": "/compare/arms",
    "{tab}": "trials",
    "{number}": "0",
    "{said}": "0",
}
OWN = {  # routes that show each token what its project has: tests/security/test_other_projects.py
    "GET /api/v1/best",
    "GET /api/v1/projects",
    "GET /api/v1/projects/{project}",
    "GET /api/v1/tasks",
    "GET /api/v1/tasks/{name}",
    "GET /api/v1/workers",
    "PUT /api/v1/workers/{name}",
    "POST /api/v1/leases",
    "POST /api/v1/leases/{lease_id}/complete",
    "POST /api/v1/leases/{lease_id}/fail",
    "POST /api/v1/leases/{lease_id}/heartbeat",
    "POST /api/v1/leases/{lease_id}/release",
}


def filled(two, path, project="theirs"):
    """Return a path to what there is in a project. A new kind of thing is named above first."""
    for place, kind in WORDS.items():
        path = path.replace(place, f"{place.partition('{')[0]}{two.names[project][kind]}")
    for place, chosen in CHOSEN.items():
        path = path.replace(place, chosen)
    path = path.replace("{project}", project)
    assert "{" not in path, f"say in WORDS or CHOSEN what stands for it: {path}"
    return path


def guarded(two):
    """Yield the method, the path and the scope of each route that is not for everybody."""
    for method, path, scopes in routes(two.client.app):
        if not is_open(path):
            [scope] = scopes
            yield method, path, scope


def elsewhere(path):
    """Return a path that differs from another only in that there is nothing."""
    return path.replace("theirs", "nobody")


def comparable(answer):
    """Return what an answer tells, without its own name, and whatever was asked for."""
    text = answer.text.replace(answer.headers["x-request-id"], "")
    return answer.status_code, text.replace("theirs", "nobody")


def test_the_document_and_the_routes_are_the_same_calls(two):
    document = two.client.app.openapi()["paths"]
    documented = {(method.upper(), path) for path, calls in document.items() for method in calls}
    answered = {(method, path) for method, path, _ in routes(two.client.app)}

    assert documented <= answered
    assert {path for _, path in answered - documented if path.startswith("/api/")} == set()
    assert len(documented) > 80


def test_the_document_says_of_every_call_what_a_stranger_is_answered(two):
    for path, calls in two.client.app.openapi()["paths"].items():
        for method, call in calls.items():
            if not is_open(path):
                assert {"401", "403", "429"} <= call["responses"].keys(), (method, path)
                assert call["security"], (method, path)


@pytest.mark.parametrize("who", [None, *NOBODY])
def test_nobody_gets_past_the_door_of_any_route(two, who):
    for method, path, _ in guarded(two):
        there = two.ask(who, method, filled(two, path))
        nowhere = two.ask(who, method, elsewhere(filled(two, path)))

        said = "wants a token" if who is None else "never given, has expired or was revoked"
        assert is_a_problem(there, 401, "unauthorized", said), (method, path)
        assert there.headers["www-authenticate"] == 'Bearer realm="thiessen"'
        assert comparable(there) == comparable(nowhere), "whether there is something is nobody's business"


@pytest.mark.parametrize("header", ["Basic cm9vdDpyb290", "Bearer", "Token x", "bearer\tx", ", Bearer x"])
def test_what_is_no_token_at_all_gets_past_no_door(two, header):
    for method, path, _ in guarded(two):
        answer = two.ask(None, method, filled(two, path), authorization=header)
        assert is_a_problem(answer, 401, "unauthorized", ""), (method, path)


@pytest.mark.parametrize("scope", Scope)
def test_a_token_of_another_scope_is_refused_by_every_route(two, scope):
    refused = 0
    for method, path, needed in guarded(two):
        if scope in {needed, Scope.ADMIN}:
            continue
        answer = two.ask(f"only-{scope}", method, filled(two, path))
        said = f"needs the scope {needed}; token 'only-{scope}' has {scope}."
        assert is_a_problem(answer, 403, "forbidden", said), (method, path)
        refused += 1

    assert refused > 50 or scope is Scope.ADMIN


def test_a_part_that_needs_more_is_refused_to_who_has_less(two):
    for path, calls in two.client.app.openapi()["paths"].items():
        for method, call in calls.items():
            for each in call.get("parameters", []):
                if MORE in each["schema"]:
                    asked = f"{filled(two, path)}?{each['name']}=true"
                    answer = two.ask("only-submit", method.upper(), asked)
                    assert is_a_problem(answer, 403, "forbidden", f"needs the scope {each['schema'][MORE]}")


def test_a_token_of_one_project_finds_no_other_by_any_route(two):
    own = set()
    for method, path, _ in guarded(two):
        there = two.ask("all-of-ours", method, filled(two, path))
        if f"{method} {path}" in OWN:
            own.add(f"{method} {path}")
            continue
        nowhere = two.ask("all-of-ours", method, elsewhere(filled(two, path)))
        assert there.status_code in {403, 404}, (method, path, there.text)
        if there.status_code == 403:
            assert is_a_problem(there, 403, "forbidden", "is bound to project 'ours'")
        else:
            assert is_a_problem(there, 404, "project-not-found", "is bound to project 'ours'")
        assert comparable(there) == comparable(nowhere), "whether there is something is nobody's business"

    assert own == OWN


def test_the_pages_answer_a_browser_as_the_interface_answers_a_program(two):
    page = {"accept": "text/html"}
    for method, path, scope in guarded(two):
        if path.startswith(("/api/", "/metrics", "/openapi.json")):
            continue
        there = filled(two, path)
        stranger = two.ask(None, method, there, **page)
        assert (stranger.status_code, "login?next=" in stranger.headers["location"]) == (303, True), path
        found, nowhere = (two.ask("all-of-ours", method, each, **page) for each in (there, elsewhere(there)))
        assert found.status_code in {403, 404}, (method, path)
        assert comparable(found) == comparable(nowhere), (method, path)
        if scope is not Scope.READ:
            assert two.ask("only-read", method, there, **page).status_code == 403, (method, path)


def test_all_of_it_left_both_projects_as_they_were(two):
    for project in ("ours", "theirs"):
        name = two.names[project]["study"]
        study = two.made("root", "GET", f"/api/v1/projects/{project}/studies/{name}")
        assert (study["state"], study["notes"]) == ("active", f"notes-of-{project}")
        assert (study["counts"]["succeeded"], study["counts"]["running"]) == (2, 1)
