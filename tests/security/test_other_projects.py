"""What a token that is bound to a project is told by the routes that ask for none: its own alone."""

import json

import pytest

from tests.api.test_problems import is_a_problem

THEIRS = "theirs"  # is in every name and word of the other project
LISTS = (
    "/best?top=1000", "/projects", "/tasks", "/workers", "/projects/ours", "/projects/ours/studies",
    "/projects/ours/studies?archived=true", "/projects/ours/studies?q=study", "/projects/ours/comparisons",
    "/projects/ours/optuna/studies", "/projects/ours/studies/{study}", "/tasks/{task}",
    "/projects/ours/studies/{study}/events", "/projects/ours/studies/{study}/export",
    "/projects/ours/studies/{study}/export?format=csv", "/projects/ours/studies/{study}/history",
    "/projects/ours/studies/{study}/replay", "/projects/ours/studies/{study}/trials",
    "/projects/ours/comparisons/{comparison}", "/projects/ours/comparisons/{comparison}/report",
)  # fmt: skip
PAGES = (
    "", "studies/{study}", "studies/{study}/trials", "studies/{study}/landscape", "comparisons", "workers",
    "comparisons/{comparison}", "workers/{worker}", "new", "new/comparison", "compare?study={study}",
)  # fmt: skip


def ours(two, path):
    return path.format(**{kind: name for kind, name in two.names["ours"].items() if " " not in kind})


@pytest.mark.parametrize("path", LISTS)
def test_no_list_and_no_document_has_a_word_of_another_project(two, path):
    answer = two.ask("all-of-ours", "GET", f"/api/v1{ours(two, path)}")

    assert answer.status_code == 200, answer.text
    assert THEIRS not in answer.text


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_a_word_of_another_project(two, page):
    answer = two.ask("all-of-ours", "GET", f"/projects/ours/{ours(two, page)}", accept="text/html")

    assert answer.status_code == 200, answer.text
    assert THEIRS not in answer.text


@pytest.mark.parametrize("kind", ["study", "comparison", "optuna study", "optuna trial", "task"])
def test_a_name_of_another_project_is_one_that_never_was(two, kind):
    at = {
        "study": "/projects/ours/studies/{}", "comparison": "/projects/ours/comparisons/{}",
        "optuna study": "/projects/ours/optuna/studies/{}", "task": "/tasks/{}",
        "optuna trial": "/projects/ours/optuna/trials/{}",
    }[kind]  # fmt: skip
    name = two.names["theirs"][kind]
    never = str(int(name) + 10_000) if name.isdigit() else name.replace(THEIRS, "nobody")
    theirs, nobodys = (two.ask("all-of-ours", "GET", f"/api/v1{at.format(each)}") for each in (name, never))

    assert theirs.status_code == nobodys.status_code == 404
    one, other = (answer.json() | {"request_id": ""} for answer in (theirs, nobodys))
    assert one | {"detail": one["detail"].replace(name, "")} == other | {
        "detail": other["detail"].replace(never, "")
    }


def test_figures_side_by_side_and_profiles_take_no_study_of_another_project(two):
    study, comparison = two.names["theirs"]["study"], two.names["theirs"]["comparison"]
    own = two.names["ours"]["study"]
    for path in (
        f"/compare/arms?study={own}&study={study}",
        f"/profile?comparison={comparison}",
        f"/profile/figure?comparison={comparison}",
        f"/comparisons/{comparison}/figures/ends",
        f"/studies/{study}/figures/history",
    ):
        answer = two.ask("all-of-ours", "GET", f"/api/v1/projects/ours{path}")
        assert answer.status_code == 404, (path, answer.text)


def test_no_trial_is_leased_out_of_another_project(two):
    wish = {"worker": "thief", "incarnation": "i", "request_id": "thief", "max": 100}
    study, task = two.names["theirs"]["study"], two.names["theirs"]["task"]
    for sought in ({"tasks": [task]}, {"tasks": [task], "studies": [study]}):
        found = two.made("works-for-ours", "POST", "/api/v1/leases", **wish | sought)
        assert found == {"leases": []}


@pytest.mark.parametrize("verb", ["heartbeat", "complete", "fail", "release"])
@pytest.mark.parametrize("thief", ["works-for-ours", "all-of-ours", "only-work"])
def test_a_stolen_lease_id_is_worth_nothing(two, verb, thief):
    at = f"/api/v1/projects/theirs/studies/{two.names['theirs']['study']}/trials/2"
    before = two.made("root", "GET", at)
    sent = {
        "heartbeat": {"reports": []},
        "complete": {"loss": 0.5},
        "fail": {"kind": "error", "message": "m"},
    }

    stolen = two.ask(
        thief, "POST", f"/api/v1/leases/{two.names['theirs']['lease']}/{verb}", body=sent.get(verb)
    )

    assert is_a_problem(stolen, 403, "forbidden", f"was not taken with token {thief!r}")
    assert "theirs" not in stolen.text
    assert before["state"] == "running"
    assert two.made("root", "GET", at) == before


def test_the_worker_of_another_project_is_not_registered_over(two):
    told = {"incarnation": "j", "tasks": [{"name": "t"}]}
    answer = two.ask("all-of-ours", "PUT", f"/api/v1/workers/{two.names['theirs']['worker']}", body=told)

    assert is_a_problem(answer, 403, "forbidden", "was registered with another token")


def test_a_key_of_another_token_answers_nothing_of_what_it_stands_for(two):
    study = {"name": "keyed", "task": "t", "space": {"x": {"type": "boolean"}}, "max_trials": 1}
    key = {"idempotency-key": "the-same"}
    first = two.ask("all-of-theirs", "POST", "/api/v1/projects/theirs/studies", body=study, **key)
    second = two.ask("all-of-ours", "POST", "/api/v1/projects/ours/studies", body=study | {"seed": 7}, **key)

    assert (first.status_code, second.status_code) == (201, 201)
    assert json.loads(second.text)["seed"] == 7


def test_a_token_of_a_project_makes_nobody_a_token_and_hears_of_nobody(two):
    for path in ("/tokens", "/audit", "/webhooks", f"/webhooks/{two.names['theirs']['webhook']}"):
        answer = two.ask("all-of-ours", "GET", f"/api/v1{path}")
        assert is_a_problem(answer, 403, "forbidden", "is bound to project 'ours'")
        assert "theirs" not in answer.text
    assert two.ask("all-of-ours", "GET", "/metrics").status_code == 403
