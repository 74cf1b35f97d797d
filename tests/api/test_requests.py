import logging

import pytest

from app.api.requests import route_of


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, "thiessen")
    return lambda name: [record for record in caplog.records if record.name == name]


@pytest.mark.parametrize("given", ["a-b_c.d:9", "f" * 32, "x" * 128])
def test_an_answer_carries_the_id_that_its_request_came_with(api, given):
    assert api.get("/healthz", headers={"x-request-id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 129, "a b", 'a"b', "é", "a\tb"])
def test_an_id_that_is_not_fit_for_a_log_is_replaced(api, given):
    answer = api.get("/healthz", headers=[(b"x-request-id", given.encode("latin-1"))])

    assert answer.headers["x-request-id"] != given
    assert len(answer.headers["x-request-id"]) == 16


def test_two_requests_have_two_ids(api):
    assert len({api.get("/healthz").headers["x-request-id"] for _ in range(2)}) == 2


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/studies/nobody", 404),
        ("GET", "/api/v1/nowhere", 404),
        ("DELETE", "/healthz", 405),
        ("POST", "/api/v1/studies", 422),
    ],
)
def test_a_problem_names_its_request(api, method, path, status):
    answer = api.request(method, path, headers={"x-request-id": "mine"})

    assert (answer.status_code, answer.json()["request_id"]) == (status, "mine")


def test_a_refused_host_names_its_request_too(api):
    answer = api.get("/healthz", headers={"host": "evil.example", "x-request-id": "mine"})

    assert answer.json()["request_id"] == "mine"


def test_a_fault_is_in_the_log_under_the_id_that_the_answer_names(api, monkeypatch, lines):
    monkeypatch.setattr("app.lifecycle.rank.best", lambda *_, **__: 1 / 0)

    answer = api.get("/api/v1/studies/s/best", headers={"x-request-id": "mine"})

    assert (answer.status_code, answer.json()["request_id"]) == (500, "mine")
    assert answer.headers["x-request-id"] == "mine"
    (fault,) = lines("thiessen.server")
    assert "ZeroDivisionError" in str(fault.exc_info)


def test_a_request_is_one_line_that_names_its_route_and_never_its_lease(caller, lines):
    caller.create()
    leased = caller.leased()
    caller.end(leased, "release")

    told = lines("thiessen.access")
    assert [(line.method, line.route, line.status, line.who) for line in told] == [
        ("POST", "/api/v1/studies", 201, "anonymous"),
        ("POST", "/api/v1/leases", 200, "anonymous"),
        ("POST", "/api/v1/leases/{lease_id}/release", 204, "anonymous"),
    ]
    assert all(leased["lease_id"] not in line.getMessage() for line in told)


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/", "/"),
        ("/studies/x", "/studies/{name}"),
        ("/api/v1/studies/x", "/api/v1/studies/{name}"),
        ("/api/v1/studies/x/trials/1", "/api/v1/studies/{name}/trials/{number}"),
        ("/api/v1/nowhere", "other"),
        ("/api/v1/projects/made-up", "/api/v1/projects/{project}"),
        ("/api/v1/projects/made-up/studies/x", "/api/v1/projects/{project}/studies/{name}"),
        ("/projects/made-up/", "/projects/{project}/"),
        ("/projects/projects/studies/x", "/projects/{project}/studies/{name}"),
        ("/projects/a%0A12:00:00%20info%20all%20is%20well/studies/x", "/projects/{project}/studies/{name}"),
    ],
)
def test_a_line_names_the_whole_template(api, lines, path, route):
    api.get(path)

    assert lines("thiessen.access")[0].route == route


def test_a_template_that_knows_its_prefix_is_not_given_it_twice():
    class Route:
        path = "/api/v1/studies/{name}"

    assert route_of({"route": Route(), "path": "/api/v1/studies/x"}) == "/api/v1/studies/{name}"


def test_probes_are_told_at_debug_only(api, lines):
    api.get("/healthz")

    assert [line.levelno for line in lines("thiessen.access")] == [logging.DEBUG]
